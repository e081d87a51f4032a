// Lists of nodes by state and of pods by the time of their eviction, for the pages of `explain`. Costs time proportional to
// the nodes or the scheduled pods, and an outlook for each node that is listed. Keeps no state.
import { findCondition } from '../../machinery/api/conditions.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { NodeOutlook } from './build-node-outlook.ts';
import { classifyNodeState, type NodeState } from './classify-node-state.ts';
import type { Estimate, Hold, NextAction, Past } from './reports.ts';
import { formatEstimate, formatPast } from './format-time.ts';
import { graceOf, readyOf } from '../health/assess-node.ts';
import type { Now } from '../model/node-state.ts';
import type { NodeHold } from '../model/policy.ts';
import { podsByNode } from '../taint-eviction/taint-evictor.ts';
import { healthTaintsOf } from '../tainting/decide-taints.ts';
import { selectLeavingPods } from './select-leaving-pods.ts';
import { recordOf, type SnapshotSources } from './report-sources.ts';

export interface NodeQuery {
  readonly states: ReadonlySet<NodeState>;
  readonly limit: number;
  /** Name after which the names of the nodes sort. */
  readonly after: string;
}

interface ListedNode {
  readonly name: string;
  readonly zone: string;
  readonly policy: string | null;
  readonly state: NodeState;
  readonly ready: string;
  /**
   * Time at which the Ready condition of the node last changed; for a suspect node since when it is silent. Null:
   * Ready, or not known.
   */
  readonly since: Past | null;
  readonly pods: number;
  readonly holds: readonly Hold['kind'][];
  readonly next: NextAction;
}

export interface NodeList {
  readonly nodes: readonly ListedNode[];
  /** Number of nodes in these states, on all pages. */
  readonly total: number;
  /** The query parameter `continue` of the next page. Null: this is the last one. */
  readonly continue: string | null;
}

interface ListedEviction {
  /** `namespace/name`. */
  readonly pod: string;
  readonly node: string;
  readonly when: Estimate;
}

export interface EvictionList {
  readonly evictions: readonly ListedEviction[];
  readonly total: number;
}

/** Lists nodes by name. `outlookOf` explains a node. */
export function listNodes(
  sources: SnapshotSources,
  outlookOf: (name: string) => NodeOutlook | undefined,
  { states, limit, after }: NodeQuery,
): NodeList {
  const nodes = [...sources.informers.nodes.store.values()].map((node) => ({ node, state: stateOf(node, sources) }));
  const matching = nodes.filter(({ state }) => states.has(state)).sort((a, b) => compare(a.node.name, b.node.name));
  const following = matching.filter(({ node }) => node.name > after);
  const page = following.slice(0, limit);
  return {
    nodes: page.flatMap(({ node, state }) => {
      const outlook = outlookOf(node.name);
      return outlook === undefined ? [] : [toListed(node, state, outlook, sources)];
    }),
    total: matching.length,
    continue: following.length > page.length ? (page.at(-1)?.node.name ?? null) : null,
  };
}

/** The pods with a scheduled eviction that are due first. */
export function listEvictions({ stages, informers, clock }: SnapshotSources, limit: number): EvictionList {
  const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
  const scheduled = [...stages.evictor.scheduled()].sort(([a, aMs], [b, bMs]) => aMs - bMs || compare(a, b));
  const evictions = scheduled.slice(0, limit).map(([pod, atMs]) => {
    const [namespace = '', name = ''] = pod.split('/');
    const node = informers.pods.store.get(objectKey(namespace, name))?.nodeName ?? '';
    return { pod, node, when: formatEstimate(atMs, now) };
  });
  return { evictions, total: scheduled.length };
}

function stateOf(node: NodeView, sources: SnapshotSources): NodeState {
  const { stages, informers } = sources;
  const { name } = node;
  return classifyNodeState({
    ready: readyOf(node),
    isSilent: silentSinceMs(node, sources) !== undefined,
    isTainted: healthTaintsOf(node.taints).length > 0,
    ...selectLeavingPods(node, informers.pods.store.byIndex(podsByNode, name), stages),
    isMaintained: stages.policies.maintenanceOf(name) !== undefined,
    isPaused: isPaused(stages.policies.modeOf(name)),
  });
}

/** Whether a node is paused by its annotation or its policy: a pause of all nodes is not the state of a node. */
function isPaused(hold: NodeHold | undefined): boolean {
  return hold?.mode === 'Paused' && hold.source.kind !== 'config-file';
}

/** Time since which a node is silent, on the health clock; undefined: it is not silent. */
function silentSinceMs(node: NodeView, sources: SnapshotSources): number | undefined {
  const { stages } = sources;
  const record = recordOf(node, sources);
  if (record === undefined) return undefined;
  const { graceMs } = graceOf(record, stages.policies.current(node.name));
  const sinceMs = record.heartbeatAtMs + graceMs;
  return stages.freshness.nowMs() > sinceMs ? sinceMs : undefined;
}

function toListed(
  node: NodeView,
  state: NodeState,
  outlook: NodeOutlook,
  { clock, informers }: SnapshotSources,
): ListedNode {
  const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
  return {
    name: node.name,
    zone: outlook.zone.zone,
    policy: outlook.policy?.name ?? null,
    state,
    ready: outlook.ready,
    since: sinceOf(node, outlook, now),
    pods: informers.pods.store.byIndex(podsByNode, node.name).length,
    holds: [...new Set(outlook.holds.map(({ kind }) => kind))],
    next: outlook.next,
  };
}

function sinceOf(node: NodeView, { ready, silence }: NodeOutlook, now: Now): Past | null {
  if (ready === 'True') return silence?.since ?? null;
  const changedMs = parseTimestamp(findCondition(node.conditions, 'Ready')?.lastTransitionTime);
  return changedMs === undefined ? null : formatPast(now.monotonicMs - (now.wallMs - changedMs), now);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
