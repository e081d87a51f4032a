// The holds that apply to many nodes, each with its beginning and what ends it.
import { formatTime, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { HoldBanner } from '../protocol.ts';
import { steadyTime } from './steady-time.ts';
import { buildBreakerHolds, buildZoneHolds } from '../../controller/report/build-holds.ts';
import type { ExplainedHold, Unblocker } from '../../controller/report/pages.ts';
import { readClusterHolds } from '../../controller/report/read-cluster.ts';
import type { ClusterReport } from '../../controller/report/reports.ts';
import { describeHoldReason, describeUnblocker } from '../../controller/report/text/describe-holds.ts';
import type { NotedDecision } from '../../controller/decision-log/decision-log.ts';
import type { Decision } from '../../controller/model/decisions.ts';
import type { BreakerStatus } from '../../controller/model/policy.ts';
import type { ClusterEvidence } from './cluster-evidence.ts';
import type { DashboardSources } from './dashboard-sources.ts';

type DecisionTest = (decision: Decision) => boolean;

/** Zones whose rate is 0 are listed up to this number. */
const zonesShownMax = 50;

/** The decisions with which a hold of all nodes begins and ends. */
const limits: Readonly<Partial<Record<ExplainedHold['kind'], readonly [begins: DecisionTest, ends: DecisionTest]>>> = {
  stale: [({ kind }) => kind === 'evaluation-paused', ({ kind }) => kind === 'evaluation-resumed'],
  'full-disruption': [({ kind }) => kind === 'full-disruption-entered', ({ kind }) => kind === 'full-disruption-left'],
  outage: [({ kind }) => kind === 'acts-held', ({ kind }) => kind === 'acts-resumed'],
  paused: [(decision) => setsPause(decision, 'true'), (decision) => setsPause(decision, 'false')],
};

export class DashboardHolds {
  readonly #sources: DashboardSources;
  /** The expected ends as they were shown last, by kind and reason. */
  #ends: ReadonlyMap<string, string> = new Map();

  constructor(sources: DashboardSources) {
    this.#sources = sources;
  }

  read(around: ClusterEvidence): readonly HoldBanner[] {
    const { cluster, policies } = around;
    const holds = [
      ...readClusterHolds(this.#sources, cluster).map((hold) => this.#banner(hold, cluster, this.#sinceOf(hold))),
      ...policies.flatMap(({ breaker }) => (breaker?.untilMs === undefined ? [] : this.#breakers(breaker, cluster))),
      ...(cluster.leading && !cluster.fullDisruption ? this.#stoppedZones(cluster) : []),
    ];
    this.#ends = new Map(holds.flatMap(({ kind, why, until }) => (until === null ? [] : [[`${kind} ${why}`, until]])));
    return holds;
  }

  #breakers(breaker: BreakerStatus, cluster: ClusterReport): readonly HoldBanner[] {
    return buildBreakerHolds({ ...cluster, breaker }).map((hold) => this.#banner(hold, cluster, breaker.openedAtMs));
  }

  /** Where nodes wait. */
  #stoppedZones(cluster: ClusterReport): readonly HoldBanner[] {
    const { stages } = this.#sources;
    const stopped = stages.zones.zonesOfAllLevels().filter((zone) => {
      const queue = stages.queues.get(zone);
      return queue !== undefined && queue.size > 0 && queue.bucket.ratePerSecond === 0;
    });
    return stopped.slice(0, zonesShownMax).flatMap((zone) => this.#stoppedZone(zone, cluster));
  }

  #stoppedZone(zone: string, cluster: ClusterReport): readonly HoldBanner[] {
    const sinceMs = selectHoldSince(
      this.#sources.stages.decisions.of(zone === '' ? '(none)' : zone),
      (decision) => decision.kind === 'zone-changed' && decision.ratePerSecond === 0,
      (decision) => decision.kind === 'zone-changed' && decision.ratePerSecond > 0,
    );
    return buildZoneHolds(cluster.zone(zone)).map((hold) => this.#banner(hold, cluster, sinceMs));
  }

  #sinceOf(hold: ExplainedHold): number | undefined {
    const [begins, ends] = limits[hold.kind] ?? [];
    if (begins === undefined || ends === undefined) return undefined;
    return selectHoldSince(this.#sources.stages.decisions.of('cluster'), begins, ends);
  }

  #banner(hold: ExplainedHold, { now }: ClusterReport, sinceMs: number | undefined): HoldBanner {
    const { kind, unblockedBy } = hold;
    const why = describeHoldReason(hold);
    const untilMs = unblockedBy.map(endMs).find((atMs) => atMs !== undefined);
    return {
      kind,
      why,
      since: sinceMs === undefined ? null : formatTime(sinceMs),
      until: untilMs === undefined ? null : steadyTime(this.#ends.get(`${kind} ${why}`), untilMs, now.wallMs),
      ends: unblockedBy.map(describeUnblocker).join(', or '),
    };
  }
}

/** The expected wall time of an end; undefined: it is none by time. */
function endMs(unblocker: Unblocker): number | undefined {
  return 'when' in unblocker ? parseTimestamp(unblocker.when.at) : undefined;
}

function setsPause(decision: Decision, to: string): boolean {
  if (decision.kind !== 'settings-changed') return false;
  return decision.changes.some((change) => change.setting === 'paused' && change.to === to);
}

/**
 * The time of the first decision that begins a hold, after the last one that ends it; undefined: the decisions that are
 * kept, oldest first, do not show it.
 */
export function selectHoldSince(
  decisions: readonly NotedDecision[],
  begins: DecisionTest,
  ends: DecisionTest,
): number | undefined {
  const last = decisions.findLastIndex(({ decision }) => ends(decision));
  return decisions.slice(last + 1).find(({ decision }) => begins(decision))?.atMs;
}
