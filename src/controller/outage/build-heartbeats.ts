/** The last heartbeats of the counted nodes, sorted for questions about many silences. All times are on the health clock. */
export interface Heartbeats {
  readonly byZone: ReadonlyMap<string, HeartbeatTimes>;
  /** Those of all zones. */
  readonly all: HeartbeatTimes;
  /** When each node has stopped at the latest, ascending. */
  readonly stops: readonly { readonly zone: string; readonly byMs: number }[];
  /** Those of the control-plane nodes among them. */
  readonly controlPlane: HeartbeatTimes;
}

/** Each ascending. Infinity: the node renews. */
export interface HeartbeatTimes {
  readonly atMs: readonly number[];
  /** When the next heartbeat would have been there at the latest. */
  readonly nextByMs: readonly number[];
}

/** The last heartbeat of one node. */
export interface CountedHeartbeat {
  readonly zone: string;
  readonly atMs: number;
  readonly nextByMs: number;
  readonly isControlPlane: boolean;
}

export function buildHeartbeats(counted: readonly CountedHeartbeat[]): Heartbeats {
  const byZone = Map.groupBy(counted, ({ zone }) => zone);
  const stops = counted.map(({ zone, nextByMs }) => ({ zone, byMs: nextByMs }));
  return {
    byZone: new Map([...byZone].map(([zone, ofZone]) => [zone, sortTimes(ofZone)])),
    all: sortTimes(counted),
    stops: stops.sort((a, b) => ascending(a.byMs, b.byMs)),
    controlPlane: sortTimes(counted.filter(({ isControlPlane }) => isControlPlane)),
  };
}

function sortTimes(counted: readonly CountedHeartbeat[]): HeartbeatTimes {
  return {
    atMs: counted.map(({ atMs }) => atMs).sort(ascending),
    nextByMs: counted.map(({ nextByMs }) => nextByMs).sort(ascending),
  };
}

/** Two that are Infinity are equal. */
function ascending(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** How many of these ascending times are below `limitMs`. */
export function countBelow(times: readonly number[], limitMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? Infinity) < limitMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
