interface TimedPod {
  readonly pod: string;
  readonly node: string;
  readonly atMs: number;
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
