// What the dashboard shows of the whole cluster: leadership, holds, policies, evictions, zones.
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Cluster, PolicyRow, ShadowRow, ZoneRow } from '../protocol.ts';
import type { CellTally, CellCounts } from './cell-tally.ts';
import { describeBreakerCount } from '../../controller/model/decisions.ts';
import { describeOverflow } from '../../controller/model/policy.ts';
import type { ZoneReport } from '../../controller/report/reports.ts';
import { DashboardEvictions } from './dashboard-evictions.ts';
import { DashboardHolds } from './dashboard-holds.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import type { ClusterEvidence } from './cluster-evidence.ts';
import type { ShadowReport } from '../../controller/shadow/report.ts';

/** Identities of earlier leaders that are shown. */
const leadersMax = 8;
/** Time between two readings of the comparison. */
const comparisonEveryMs = 5_000;

export class DashboardCluster {
  readonly #sources: DashboardSources;
  readonly #tally: CellTally;
  readonly #holds: DashboardHolds;
  readonly #evictions: DashboardEvictions;
  /** Leaders in the order in which they were seen last. */
  readonly #leaders = new Set<string>();
  #comparison: { readonly atMs: number; readonly rows: readonly ShadowRow[] | null } = { atMs: -Infinity, rows: null };

  constructor(sources: DashboardSources, tally: CellTally) {
    this.#sources = sources;
    this.#tally = tally;
    this.#holds = new DashboardHolds(sources);
    this.#evictions = new DashboardEvictions(sources);
  }

  read(around: ClusterEvidence): Cluster {
    const { now, mode, leading, leader, shadow } = around.cluster;
    return {
      at: formatTime(now.wallMs),
      mode,
      leading,
      leader,
      shadow,
      replicas: this.#replicas(leader),
      holds: this.#holds.read(around),
      policies: around.policies.map((policy) => this.#policyRow(policy)),
      ...this.#evictions.read(now),
      comparison: this.#readComparison(now.monotonicMs),
    };
  }

  /** Zones by name. A replica that evaluates none shows those of its nodes. */
  zones({ cluster }: ClusterEvidence): readonly ZoneRow[] {
    const keys = this.#sources.stages.zones.zonesOfAllLevels();
    if (keys.length > 0) return keys.map((key) => buildZoneRow(cluster.zone(key)));
    return this.#tally.zones().map(([name, counts]) => buildUnevaluatedZoneRow(name, counts));
  }

  #replicas(leader: string | null): readonly string[] {
    const { identity } = this.#sources.server;
    if (leader !== null && leader !== identity) {
      this.#leaders.delete(leader);
      this.#leaders.add(leader);
    }
    for (const oldest of this.#leaders) {
      if (this.#leaders.size <= leadersMax) break;
      this.#leaders.delete(oldest);
    }
    return [identity, ...[...this.#leaders].reverse()];
  }

  #policyRow({ policy, mode, windows = [], breaker }: ClusterEvidence['policies'][number]): PolicyRow {
    const overflow = breaker?.overflow === undefined ? '' : `; ${describeOverflow(breaker.overflow)}`;
    const shown = breaker && { open: breaker.untilMs !== undefined, text: describeBreakerCount(breaker) + overflow };
    return { name: policy, mode, windows, ...this.#tally.policy(policy), breaker: shown ?? null };
  }

  #readComparison(nowMs: number): readonly ShadowRow[] | null {
    if (nowMs - this.#comparison.atMs >= comparisonEveryMs) {
      const report = this.#sources.shadowReport();
      this.#comparison = { atMs: nowMs, rows: report === undefined ? null : buildComparison(report) };
    }
    return this.#comparison.rows;
  }
}

/** The comparison of shadow mode: one row for each kind of act, and one for what is not decided yet. */
function buildComparison({ totals, open, undecided }: ShadowReport): readonly ShadowRow[] {
  const rows = Object.entries(totals).map(([stage, counts]) => {
    const parts = Object.entries(counts).map(([outcome, count]) => `${outcome.replaceAll('_', ' ')} ${count}`);
    return { stage, text: parts.join(', ') };
  });
  return [...rows, { stage: 'open', text: `${open} open, ${undecided} undecided` }];
}

/** A zone that is evaluated. Tokens to a tenth, because they fill slowly. */
function buildZoneRow({ zone, outer, condition, arithmetic, allowed, waiting }: ZoneReport): ZoneRow {
  const { ready, unready } = arithmetic ?? { ready: 0, unready: 0 };
  return {
    name: zone,
    outer: outer?.zone ?? null,
    condition,
    nodes: ready + unready,
    unready,
    ratePerSecond: allowed.ratePerSecond,
    tokens: Math.floor(allowed.tokens * 10) / 10,
    waiting,
    drainSeconds: estimateDrainSeconds(waiting, allowed.ratePerSecond),
  };
}

function estimateDrainSeconds(waiting: number, ratePerSecond: number): number | null {
  if (waiting === 0) return 0;
  return ratePerSecond > 0 ? Math.ceil(waiting / ratePerSecond) : null;
}

/** A zone of a replica that evaluates none. */
function buildUnevaluatedZoneRow(name: string, { nodes, unhealthy }: CellCounts): ZoneRow {
  const unknown = { ratePerSecond: null, tokens: null, waiting: null, drainSeconds: null };
  return { name, outer: null, condition: 'initial', nodes, unready: unhealthy, ...unknown };
}
