// What the dashboard shows of the whole cluster: leadership, holds, policies, evictions, zones.
import { formatTime } from '../../machinery/api/timestamps.ts';
import { isOuterZone, outerZoneOf, zoneName } from '../../machinery/api/zone.ts';
import type { Cluster, PolicyRow, ShadowRow, ZoneRow } from '../protocol.ts';
import type { CellTally, CellCounts } from './cell-tally.ts';
import { describeBreakerCount } from '../../controller/model/decisions.ts';
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
    const { holder, shadow, stages } = this.#sources;
    const leader = holder() ?? null;
    return {
      at: formatTime(around.now.wallMs),
      mode: stages.podEvictor === undefined ? 'taint' : 'eviction',
      leading: around.leading,
      leader,
      shadow: shadow === true,
      replicas: this.#replicas(leader),
      holds: this.#holds.read(around),
      policies: around.policies.map((policy) => this.#policyRow(policy)),
      ...this.#evictions.read(around.now),
      comparison: this.#readComparison(around.now.monotonicMs),
    };
  }

  /** Zones by name. A replica that evaluates none shows those of its nodes. */
  zones({ now }: ClusterEvidence): readonly ZoneRow[] {
    const { zones, queues } = this.#sources.stages;
    const names = zones.zonesOfAllLevels();
    if (names.length === 0) return this.#tally.zones().map(([name, counts]) => buildUnevaluatedZoneRow(name, counts));
    const waiting = this.#waitingInOuterZones(names);
    return names.map((zone) => {
      const ofQueue = queueFigures(queues.get(zone), now.monotonicMs);
      const { ready, unready } = zones.plan(zone)?.why ?? noTally;
      const outer = isOuterZone(zone) ? { waiting: waiting.get(zone) ?? 0 } : {};
      return buildZoneRow({ zone, condition: zones.condition(zone), ready, unready, ...ofQueue, ...outer });
    });
  }

  #waitingInOuterZones(names: readonly string[]): ReadonlyMap<string, number> {
    const { queues } = this.#sources.stages;
    const waiting = new Map<string, number>();
    for (const zone of names) {
      const outer = outerZoneOf(zone);
      if (outer !== undefined) waiting.set(outer, (waiting.get(outer) ?? 0) + (queues.get(zone)?.size ?? 0));
    }
    return waiting;
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

  #policyRow({ policy, mode, breaker }: ClusterEvidence['policies'][number]): PolicyRow {
    const shown = breaker && { open: breaker.untilMs !== undefined, text: describeBreakerCount(breaker) };
    return { name: policy, mode, ...this.#tally.policy(policy), breaker: shown ?? null };
  }

  #readComparison(nowMs: number): readonly ShadowRow[] | null {
    if (nowMs - this.#comparison.atMs >= comparisonEveryMs) {
      const report = this.#sources.shadowReport();
      this.#comparison = { atMs: nowMs, rows: report === undefined ? null : buildComparison(report) };
    }
    return this.#comparison.rows;
  }
}

const noTally = { ready: 0, unready: 0 };

/** Figures of a queue, as far as its outer zone allows. */
function queueFigures(
  queue: ReturnType<DashboardSources['stages']['queues']['get']>,
  nowMs: number,
): { readonly ratePerSecond: number; readonly tokens: number; readonly waiting: number } {
  if (queue === undefined) return { ratePerSecond: 0, tokens: 0, waiting: 0 };
  return { ratePerSecond: queue.ratePerSecond, tokens: queue.tokens(nowMs), waiting: queue.size };
}

/** The comparison of shadow mode: one row for each kind of act, and one for what is not decided yet. */
function buildComparison({ totals, open, undecided }: ShadowReport): readonly ShadowRow[] {
  const rows = Object.entries(totals).map(([stage, counts]) => {
    const parts = Object.entries(counts).map(([outcome, count]) => `${outcome.replaceAll('_', ' ')} ${count}`);
    return { stage, text: parts.join(', ') };
  });
  return [...rows, { stage: 'open', text: `${open} open, ${undecided} undecided` }];
}

interface ZoneFigures {
  readonly zone: string;
  readonly condition: string;
  readonly ready: number;
  readonly unready: number;
  /** Rate as far as the outer zone allows, as are the tokens. */
  readonly ratePerSecond: number;
  readonly tokens: number;
  readonly waiting: number;
}

/** A zone that is evaluated. Tokens to a tenth, because they fill slowly. */
function buildZoneRow({ zone, ready, unready, tokens, ...evidence }: ZoneFigures): ZoneRow {
  const outer = outerZoneOf(zone);
  return {
    name: zoneName(zone),
    outer: outer === undefined ? null : zoneName(outer),
    condition: evidence.condition,
    nodes: ready + unready,
    unready,
    ratePerSecond: evidence.ratePerSecond,
    tokens: Math.floor(tokens * 10) / 10,
    waiting: evidence.waiting,
    drainSeconds: estimateDrainSeconds(evidence),
  };
}

function estimateDrainSeconds({
  waiting,
  ratePerSecond,
}: Pick<ZoneFigures, 'waiting' | 'ratePerSecond'>): number | null {
  if (waiting === 0) return 0;
  return ratePerSecond > 0 ? Math.ceil(waiting / ratePerSecond) : null;
}

/** A zone of a replica that evaluates none. */
function buildUnevaluatedZoneRow(name: string, { nodes, unhealthy }: CellCounts): ZoneRow {
  const unknown = { ratePerSecond: null, tokens: null, waiting: null, drainSeconds: null };
  return { name, outer: null, condition: 'initial', nodes, unready: unhealthy, ...unknown };
}
