import { isOuterZone, outerZoneOf, zoneName } from '../../machinery/api/zone.ts';
import { estimateRecoveriesToNormal } from './estimate-hypotheses.ts';
import type { ClusterReport, InnerZone, QueueReport, ZoneReport } from './reports.ts';
import type { ReportSources } from './report-sources.ts';

/** The state of a zone, or of an outer zone. What costs time proportional to its queue is read when it is asked for. */
export function readZone(
  key: string,
  sources: ReportSources,
  cluster: Pick<ClusterReport, 'now' | 'zone' | 'innerOf'>,
): ZoneReport {
  const { zones, queues, policies } = sources.stages;
  const arithmetic = zones.plan(key)?.why;
  const outer = outerZoneOf(key);
  const queue = queues.get(key);
  const { monotonicMs } = cluster.now;
  let competing: readonly number[] | undefined;
  let places: ReadonlyMap<string, number> | undefined;
  const report = {
    zone: zoneName(key),
    condition: zones.condition(key),
    arithmetic,
    queue: readQueue(key, sources, monotonicMs),
    get waiting() {
      return isOuterZone(key) ? countWaiting(cluster.innerOf(key)) : (queue?.size ?? 0);
    },
    allowed: { ratePerSecond: queue?.ratePerSecond ?? 0, tokens: queue?.tokens(monotonicMs) ?? 0 },
    recoveriesToNormal:
      arithmetic && estimateRecoveriesToNormal(arithmetic, policies.zoneOptions(key).unhealthyZoneThreshold),
    get outer() {
      return outer === undefined ? undefined : cluster.zone(outer);
    },
    get competing() {
      return (competing ??= (outer === undefined ? [] : cluster.innerOf(outer))
        .filter(({ zone }) => zone !== key)
        .map(({ waiting }) => waiting));
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

/** The zones in which nodes wait, by their outer zones. */
export function readInnerZones({ stages: { queues } }: ReportSources): ReadonlyMap<string, readonly InnerZone[]> {
  const inner = queues.zones().flatMap((zone) => {
    const [outer, waiting] = [outerZoneOf(zone), queues.get(zone)?.size ?? 0];
    return outer === undefined || waiting === 0 ? [] : [{ outer, zone, waiting }];
  });
  return Map.groupBy(inner, ({ outer }) => outer);
}

function countWaiting(inner: readonly InnerZone[]): number {
  return inner.reduce((sum, { waiting }) => sum + waiting, 0);
}
