// How many zones lost most of their nodes at one moment, for many moments in ascending order: what all of them cost together follows
// from the number of nodes, not from that of nodes times zones.
import { countBelow, type Heartbeats, type HeartbeatTimes } from './build-heartbeats.ts';

/** Share of the nodes of a zone that had renewed until then, so that it counts as struck. */
export const struckShareMin = 0.6;

interface ZoneCount {
  readonly times: HeartbeatTimes;
  /** Nodes that stopped before the moment. */
  stopped: number;
}

export class StruckZones {
  readonly #heartbeats: Heartbeats;
  readonly #zones: ReadonlyMap<string, ZoneCount>;
  /** Zones by the place, among the heartbeats of all nodes, of the one up to which most of their nodes have stopped. */
  readonly #struckFrom: PrefixCounts;
  #stopped = 0;
  #zonesLeft = 0;

  /** At a moment before every heartbeat. */
  constructor(heartbeats: Heartbeats) {
    this.#heartbeats = heartbeats;
    this.#zones = new Map([...heartbeats.byZone].map(([zone, times]) => [zone, { times, stopped: 0 }]));
    this.#struckFrom = new PrefixCounts(heartbeats.all.atMs.length);
    for (const zone of this.#zones.values()) this.#count(zone, 1);
  }

  /** Nodes whose next heartbeat was due before this moment do not count from now on. Never goes back. */
  moveTo(atMs: number): void {
    const { stops } = this.#heartbeats;
    for (let stop = stops[this.#stopped]; stop !== undefined && stop.byMs < atMs; stop = stops[this.#stopped]) {
      this.#stopped += 1;
      const zone = this.#zones.get(stop.zone);
      if (zone === undefined) continue;
      this.#count(zone, -1);
      zone.stopped += 1;
      this.#count(zone, 1);
    }
  }

  /** Zones with nodes that had not stopped before the moment. */
  get zones(): number {
    return this.#zonesLeft;
  }

  /** Number of nodes that had stopped before the moment. */
  get stopped(): number {
    return this.#stopped;
  }

  /** Those of this zone. */
  stoppedIn(zone: string): number {
    return this.#zones.get(zone)?.stopped ?? 0;
  }

  /** Number of zones of which most nodes sent their last heartbeat before this time. */
  struckBefore(limitMs: number): number {
    return this.#struckFrom.countBelow(countBelow(this.#heartbeats.all.atMs, limitMs));
  }

  #count({ times, stopped }: ZoneCount, by: 1 | -1): void {
    const left = times.atMs.length - stopped;
    if (left === 0) return;
    const lastMs = times.atMs[stopped + Math.ceil(left * struckShareMin) - 1] ?? Infinity;
    this.#struckFrom.add(countBelow(this.#heartbeats.all.atMs, lastMs), by);
    this.#zonesLeft += by;
  }
}

/** Counts at places, and their sums up to a place, each in logarithmic time (a Fenwick tree). */
class PrefixCounts {
  readonly #sums: Int32Array;

  constructor(places: number) {
    this.#sums = new Int32Array(places + 1);
  }

  add(place: number, by: number): void {
    for (let at = place + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + by;
  }

  countBelow(place: number): number {
    let sum = 0;
    for (let at = place; at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }
}
