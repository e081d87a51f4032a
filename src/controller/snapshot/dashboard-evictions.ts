import { formatTime } from '../../machinery/api/timestamps.ts';
import type { Cluster, PendingEviction } from '../../dashboard/protocol.ts';
import type { Now } from '../model/node-state.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { selectFirstEvictions } from './select-first-evictions.ts';

type Evictions = Pick<Cluster, 'evictions' | 'evictionsTotal'>;

const evictionsShownMax = 200;
/** Many timed evictions are searched less often: so many of them per second. */
const searchedPerSecond = 10_000;
/** Longest time between two searches. */
const searchEveryMsMax = 15_000;

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
