import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Cluster, PendingEviction } from '../protocol.ts';
import type { Now } from '../../controller/model/node-state.ts';
import type { DashboardSources } from './dashboard-sources.ts';

type Evictions = Pick<Cluster, 'evictions' | 'evictionsTotal'>;

const evictionsShownMax = 200;
/** Many timed evictions are searched less often: so many of them per second. */
const searchedPerSecond = 10_000;
/** Longest time between two searches. */
const searchEveryMsMax = 15_000;

interface TimedPod {
  readonly pod: string;
  readonly node: string;
  readonly atMs: number;
}

/** The pods that are due first. */
export class DashboardEvictions {
  readonly #sources: DashboardSources;
  #evictions: readonly PendingEviction[] = [];
  #nextAtMs = -Infinity;

  constructor(sources: DashboardSources) {
    this.#sources = sources;
  }

  read(now: Now): Evictions {
    const { evictor } = this.#sources.stages;
    const total = evictor.timedCount;
    if (now.monotonicMs >= this.#nextAtMs) {
      this.#nextAtMs = now.monotonicMs + Math.min(searchEveryMsMax, (total * 1_000) / searchedPerSecond);
      this.#evictions = selectFirstEvictions(evictor.timedEvictions(), evictionsShownMax).map(({ pod, node, atMs }) => {
        return { pod, node, at: formatTime(now.wallMs + atMs - now.monotonicMs) };
      });
    }
    return { evictions: this.#evictions, evictionsTotal: total };
  }
}

/** The first of them by time, and then by name: at most so many. In time proportional to their number. */
export function selectFirstEvictions(all: Iterable<TimedPod>, max: number): readonly TimedPod[] {
  const first: TimedPod[] = [];
  let limitMs = Infinity;
  for (const eviction of all) {
    if (eviction.atMs > limitMs) continue;
    first.push(eviction);
    if (first.length < 2 * max) continue;
    keepFirst(first, max);
    limitMs = first.at(-1)?.atMs ?? Infinity;
  }
  keepFirst(first, max);
  return first;
}

function keepFirst(evictions: TimedPod[], max: number): void {
  evictions.sort((a, b) => a.atMs - b.atMs || (a.pod < b.pod ? -1 : 1));
  evictions.length = Math.min(evictions.length, max);
}
