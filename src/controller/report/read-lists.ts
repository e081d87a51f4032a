// Lists of nodes by state and of pods by the time of their eviction. They cost time proportional to the nodes or the scheduled pods,
// and an outlook for each node that is listed.
import { compare } from '../../machinery/api/compare.ts';
import { instantOf } from '../../machinery/ports/clock.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { buildNodeOutlook } from './build-node-outlook.ts';
import type { NodeState } from './classify-node-state.ts';
import { formatEstimate, formatPast } from './format-time.ts';
import type { EvictionList, ListedNode, NodeList } from './pages.ts';
import { readCluster } from './read-cluster.ts';
import { type NodeReport, readNode } from './read-node.ts';
import type { ReportSources } from './report-sources.ts';

export interface NodeQuery {
  readonly states: ReadonlySet<NodeState>;
  readonly limit: number;
  /** Name after which the names of the nodes sort. */
  readonly after: string;
}

/** The nodes in these states, by name. */
export function readNodeList(sources: ReportSources, { states, limit, after }: NodeQuery): NodeList {
  const cluster = readCluster(sources);
  const matching = [...sources.informers.nodes.store.keys()]
    .flatMap((name) => readNode(name, sources, cluster) ?? [])
    .filter(({ state }) => states.has(state))
    .sort((a, b) => compare(a.name, b.name));
  const following = matching.filter(({ name }) => name > after);
  const page = following.slice(0, limit);
  return {
    nodes: page.map(toListed),
    total: matching.length,
    continue: following.length > page.length ? (page.at(-1)?.name ?? null) : null,
  };
}

function toListed(report: NodeReport): ListedNode {
  const { name, state, ready, sinceMs, now, zone, policy, podViews } = report;
  const { holds, next } = buildNodeOutlook(report);
  return {
    name,
    zone: zone.zone,
    policy: policy?.name ?? null,
    state,
    ready,
    since: sinceMs === undefined ? null : formatPast(now.monotonicMs - (now.wallMs - sinceMs), now),
    pods: podViews.length,
    holds: [...new Set(holds.map(({ kind }) => kind))],
    next,
  };
}

/** The pods with a scheduled eviction that are due first. */
export function readEvictionList({ stages, informers, clock }: ReportSources, limit: number): EvictionList {
  const now = instantOf(clock);
  const scheduled = [...stages.evictor.scheduled()].sort(([a, aMs], [b, bMs]) => aMs - bMs || compare(a, b));
  const evictions = scheduled.slice(0, limit).map(([pod, atMs]) => {
    const [namespace = '', name = ''] = pod.split('/');
    const node = informers.pods.store.get(objectKey(namespace, name))?.nodeName ?? '';
    return { pod, node, when: formatEstimate(atMs, now) };
  });
  return { evictions, total: scheduled.length };
}
