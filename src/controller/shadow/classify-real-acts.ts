// A change of a node shows who made it: only a lifecycle controller sets conditions to Unknown, and every other status
// is the kubelet's own.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import { classifyTaint } from './build-own-objects.ts';
import type { TaintMatter } from './episode.ts';

type Seen = Pick<NodeView, 'conditions' | 'taints'>;

export function isUnknown({ conditions }: Pick<NodeView, 'conditions'>): boolean {
  return findCondition(conditions, 'Ready')?.status === 'Unknown';
}

/** Whether the kubelet posted a status, which ends a silence. */
export function hasKubeletPosted(before: Seen, now: Seen): boolean {
  const [was, is] = [before, now].map(({ conditions }) => findCondition(conditions, 'Ready'));
  if (is === undefined || is.status === 'Unknown') return was?.status === 'Unknown' && is === undefined;
  return was?.status === 'Unknown' || was?.lastHeartbeatTime !== is.lastHeartbeatTime;
}

interface TaintAct {
  readonly matter: TaintMatter;
  readonly value: boolean;
}

/** Managed taints that were added and removed, in that order. */
export function classifyTaintActs(before: Seen, now: Seen): readonly TaintAct[] {
  if (before.taints === now.taints) return [];
  const [were, are] = [mattersOf(before.taints), mattersOf(now.taints)];
  const came = [...are].filter((matter) => !were.has(matter));
  const went = [...were].filter((matter) => !are.has(matter));
  return [...came.map((matter) => ({ matter, value: true })), ...went.map((matter) => ({ matter, value: false }))];
}

function mattersOf(taints: readonly Taint[]): ReadonlySet<TaintMatter> {
  return new Set(taints.map(classifyTaint).filter((matter) => matter !== undefined));
}
