// Eviction mode: which nodes are about to be evicted, and what happens to their pods.
import type { NodeView } from '../../machinery/api/node.ts';
import { graceOf, readyOf } from '../health/assess-node.ts';
import type { HealthRecord } from '../health/health-record.ts';
import type { PodEvictor } from '../pod-eviction-mode/pod-evictor.ts';
import { estimateEvictionDueMs } from './estimate-hypotheses.ts';
import type { NodeEvictionReport } from './reports.ts';
import { type ReportSources, toMonotonicMs } from './report-sources.ts';

/** The progress of a node's eviction; undefined in taint mode. */
export function readEviction(
  node: NodeView,
  record: HealthRecord | undefined,
  sources: ReportSources,
): NodeEvictionReport | undefined {
  const { podEvictor } = sources.stages;
  if (podEvictor === undefined) return undefined;
  const mark = podEvictor.markOf(node.name);
  if (record === undefined) return { mark, dueAtMs: undefined, beforeMs: [] };
  const dueMs = dueMsOf(node, record, sources);
  const beforeMs = duesBefore(node, dueMs, sources, podEvictor).map((atMs) => toMonotonicMs(atMs, sources));
  return { mark, dueAtMs: toMonotonicMs(dueMs, sources), beforeMs };
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

/** Times of the nodes of its zone that are queued before it, on the health clock. */
function duesBefore(
  node: NodeView,
  dueMs: number,
  { stages, informers }: ReportSources,
  evictor: PodEvictor,
): readonly number[] {
  const others = evictor.notQueued();
  const place = others.indexOf(node.name);
  const zone = stages.policies.zoneOf(node);
  return others
    .slice(0, place < 0 ? others.length : place)
    .filter((name) => {
      const other = informers.nodes.store.get(name);
      return other !== undefined && stages.policies.zoneOf(other) === zone;
    })
    .flatMap((name) => evictor.dueAtMs(name) ?? [])
    .filter((atMs) => atMs <= dueMs);
}
