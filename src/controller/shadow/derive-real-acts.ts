// What changed about a node tells who did it: conditions become Unknown by a lifecycle controller's hand alone, and every
// other answer is the kubelet's own.
import { findCondition } from '../../api/conditions.ts';
import type { NodeView } from '../../api/node.ts';
import type { Taint } from '../../api/taints.ts';
import { classifyTaint } from './classify-taint.ts';
import type { TaintMatter } from './episode.ts';

type Seen = Pick<NodeView, 'conditions' | 'taints'>;

export function isUnknown({ conditions }: Pick<NodeView, 'conditions'>): boolean {
  return findCondition(conditions, 'Ready')?.status === 'Unknown';
}

/** The kubelet posted a status: nobody's silence lasts beyond that. */
export function hasSpoken(before: Seen, now: Seen): boolean {
  const [was, is] = [before, now].map(({ conditions }) => findCondition(conditions, 'Ready'));
  if (is === undefined || is.status === 'Unknown') return was?.status === 'Unknown' && is === undefined;
  return was?.status === 'Unknown' || was?.lastHeartbeatTime !== is.lastHeartbeatTime;
}

export interface TaintAct {
  readonly matter: TaintMatter;
  readonly value: boolean;
}

/** The lifecycle controller's taints that came and went, in that order. */
export function deriveTaintActs(before: Seen, now: Seen): readonly TaintAct[] {
  if (before.taints === now.taints) return [];
  const [were, are] = [mattersOf(before.taints), mattersOf(now.taints)];
  const came = [...are].filter((matter) => !were.has(matter));
  const went = [...were].filter((matter) => !are.has(matter));
  return [...came.map((matter) => ({ matter, value: true })), ...went.map((matter) => ({ matter, value: false }))];
}

function mattersOf(taints: readonly Taint[]): ReadonlySet<TaintMatter> {
  return new Set(taints.map(classifyTaint).filter((matter) => matter !== undefined));
}
