import { isOuterZone, outerZoneOf, zoneName } from '../../machinery/api/zone.ts';
import { estimateRecoveriesToNormal } from './estimate-hypotheses.ts';
import type { ClusterReport, QueueReport, ZoneReport } from './reports.ts';
import type { ReportSources } from './report-sources.ts';

/** The state of a zone, or of an outer zone. What costs time proportional to its queue is read when it is asked for. */
export function readZone(
  key: string,
  sources: ReportSources,
  cluster: Pick<ClusterReport, 'now' | 'zone'>,
): ZoneReport {
  const { zones, queues, policies } = sources.stages;
  const arithmetic = zones.plan(key)?.why;
  const outer = outerZoneOf(key);
  const queue = queues.get(key);
  const { monotonicMs } = cluster.now;
  let places: ReadonlyMap<string, number> | undefined;
  const report = {
    zone: zoneName(key),
    condition: zones.condition(key),
    arithmetic,
    queue: readQueue(key, sources, monotonicMs),
    get waiting() {
      return isOuterZone(key) ? countWaiting(key, sources) : (queue?.size ?? 0);
    },
    allowed: { ratePerSecond: queue?.ratePerSecond ?? 0, tokens: queue?.tokens(monotonicMs) ?? 0 },
    recoveriesToNormal:
      arithmetic && estimateRecoveriesToNormal(arithmetic, policies.zoneOptions(key).unhealthyZoneThreshold),
    get outer() {
      return outer === undefined ? undefined : cluster.zone(outer);
    },
    get competing() {
      const others = outer === undefined ? [] : queues.competing(key).filter((other) => other !== key);
      return others.map((other) => queues.get(other)?.size ?? 0);
    },
    placeOf(node: string) {
      places ??= new Map(report.queue.nodes.map((name, place) => [name, place]));
      return places.get(node);
    },
  };
  return report;
}

function readQueue(key: string, { stages: { queues } }: ReportSources, nowMs: number): QueueReport {
  const queue = queues.get(key);
  if (queue === undefined) return { nodes: [], tokens: 0, nextTokenAtMs: Infinity, ratePerSecond: 0 };
  const { bucket } = queue;
  let nodes: readonly string[] | undefined;
  return {
    get nodes() {
      return (nodes ??= queue.keysInOrder());
    },
    tokens: bucket.available(nowMs),
    nextTokenAtMs: bucket.nextAtMs(nowMs),
    ratePerSecond: bucket.ratePerSecond,
  };
}

/** Number of nodes that wait in the zones of this outer zone. */
function countWaiting(outer: string, { stages: { zones, queues } }: ReportSources): number {
  const inner = zones.zonesOfAllLevels().filter((zone) => outerZoneOf(zone) === outer);
  return inner.reduce((sum, zone) => sum + (queues.get(zone)?.size ?? 0), 0);
}
