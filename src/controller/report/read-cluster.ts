import { instantOf } from '../../machinery/ports/clock.ts';
import type { Now } from '../model/node-state.ts';
import { describeHoldKind } from '../holds/decide-holds.ts';
import { noHolds } from '../model/holds.ts';
import { runningParts } from '../model/options.ts';
import { buildExplainedHolds, buildProcessHolds, type HoldDetails } from './build-holds.ts';
import type { ExplainedHold } from './pages.ts';
import { readDueNodes } from './read-eviction.ts';
import { readInnerZones, readZone } from './read-zone.ts';
import type { ClusterReport, DueNode, InnerZone, OutageHoldReport, ZoneReport } from './reports.ts';
import { type ReportSources, toMonotonicMs } from './report-sources.ts';

/** The state of all that concerns every node. `now`: by default the time of the clock. */
export function readCluster(sources: ReportSources, now: Now = instantOf(sources.clock)): ClusterReport {
  const { leadership, holder, stages, controllers, options, shadow } = sources;
  const zones = new Map<string, ZoneReport>();
  let inner: ReturnType<typeof readInnerZones> | undefined;
  let due: ReturnType<typeof readDueNodes> | undefined;
  const cluster = {
    now,
    healthNowMs: stages.freshness.nowMs(),
    leading: leadership.holds(),
    shadow: shadow === true,
    leader: holder() ?? null,
    mode: stages.podEvictor === undefined ? 'taint' : 'eviction',
    runs: runningParts(controllers, options.current()),
    policySource: options.current().policySource,
    stale: stages.freshness.staleness(),
    fullDisruption: stages.zones.fullDisruption,
    zone(key: string): ZoneReport {
      const report = zones.get(key) ?? readZone(key, sources, cluster);
      zones.set(key, report);
      return report;
    },
    innerOf(outer: string): readonly InnerZone[] {
      inner ??= readInnerZones(sources);
      return inner.get(outer) ?? [];
    },
    dueIn(zone: string): readonly DueNode[] {
      due ??= readDueNodes(sources, cluster);
      return due.get(zone) ?? [];
    },
  } as const;
  return cluster;
}

/** What holds acts for all nodes, and what this process does not do. */
export function readClusterHolds(sources: ReportSources, cluster: ClusterReport): readonly ExplainedHold[] {
  const details = readClusterDetails(sources, cluster);
  const held = [...sources.stages.holds.ofAll()].flatMap((hold) => buildExplainedHolds(hold, details));
  return [...buildProcessHolds(cluster), ...held];
}

/** Figures of the holds that do not depend on a node. */
export function readClusterDetails(sources: ReportSources, cluster: ClusterReport): HoldDetails {
  return {
    ...cluster,
    mode: sources.stages.policies.modeOf(''),
    outage: readOutage(sources),
    maintenance: undefined,
    veto: undefined,
    breaker: undefined,
    emptying: undefined,
    awaited: undefined,
    unconfirmed: undefined,
    zones: [],
    words: (kind) => describeHoldKind(kind, noHolds),
  };
}

/** The hold because of an outage, whatever nodes it applies to. */
export function readOutage(sources: ReportSources): OutageHoldReport | undefined {
  const hold = sources.stages.outage.hold();
  return hold && { why: hold.why, recovering: hold.recovering, untilMs: toMonotonicMs(hold.untilMs, sources) };
}
