// Eviction mode: which nodes are about to be evicted, and what happens to their pods.
import type { NodeView } from '../../machinery/api/node.ts';
import { graceOf, readyOf } from '../health/assess-node.ts';
import type { HealthRecord } from '../health/health-record.ts';
import { estimateEvictionDueMs } from './estimate-hypotheses.ts';
import type { ClusterReport, DueNode, NodeEvictionReport } from './reports.ts';
import type { ReportSources } from './report-sources.ts';

type Times = Pick<ClusterReport, 'now' | 'healthNowMs'>;

/** The progress of a node's eviction; undefined in taint mode. */
export function readEviction(
  node: NodeView,
  record: HealthRecord | undefined,
  sources: ReportSources,
  cluster: ClusterReport,
): NodeEvictionReport | undefined {
  const { podEvictor, policies } = sources.stages;
  if (podEvictor === undefined) return undefined;
  const mark = podEvictor.markOf(node.name);
  if (record === undefined) return { mark, dueAtMs: undefined, beforeMs: [] };
  const dueAtMs = toMonotonicMs(dueMsOf(node, record, sources), cluster);
  return {
    mark,
    dueAtMs,
    get beforeMs() {
      return selectBefore(node.name, dueAtMs, cluster.dueIn(policies.zoneOf(node)));
    },
  };
}

/** Time at which a node is due, on the health clock. */
function dueMsOf(node: NodeView, record: HealthRecord, { stages, options }: ReportSources): number {
  const times = {
    timeoutMs: options.current().podEvictionTimeoutMs,
    silentFromMs: record.heartbeatAtMs + graceOf(record, options.current()).graceMs + 1,
    nowMs: stages.freshness.nowMs(),
  };
  return estimateEvictionDueMs({ ...record, ready: readyOf(node) }, times);
}

/** Times of the nodes that are queued before this one. */
function selectBefore(node: string, dueAtMs: number, inZone: readonly DueNode[]): readonly number[] {
  const place = inZone.findIndex(({ name }) => name === node);
  const before = place < 0 ? inZone : inZone.slice(0, place);
  return before.map(({ atMs }) => atMs).filter((atMs) => atMs <= dueAtMs);
}

/** The nodes that wait for the end of their timeout, by zone, in the order in which they will be queued. None in taint mode. */
export function readDueNodes(
  { stages, informers }: ReportSources,
  times: Times,
): ReadonlyMap<string, readonly DueNode[]> {
  const { podEvictor, policies } = stages;
  const due = (podEvictor?.notQueued() ?? []).flatMap((name) => {
    const node = informers.nodes.store.get(name);
    const dueMs = podEvictor?.dueAtMs(name);
    if (node === undefined || dueMs === undefined) return [];
    return [{ name, zone: policies.zoneOf(node), atMs: toMonotonicMs(dueMs, times) }];
  });
  return Map.groupBy(due, ({ zone }) => zone);
}

function toMonotonicMs(healthMs: number, { now, healthNowMs }: Times): number {
  return now.monotonicMs + healthMs - healthNowMs;
}
