import type { Random } from '../../machinery/ports/random.ts';

/** Something that happens at a virtual time. */
export interface Occurrence {
  readonly atMs: number;
  cancelled: boolean;
}

interface TimelineEntry extends Occurrence {
  /** Orders entries of one time: drawn from the seed, so that each seed is another interleaving. */
  readonly rank: number;
  readonly run: () => void;
}

interface TimelineOptions {
  readonly random: Random;
  /** Calls back when all promises that can settle without another occurrence have settled. */
  readonly settle: (then: () => void) => void;
  /** Called after everything that happens at one virtual time. */
  readonly afterInstant?: () => void;
}

/** Maximum number of occurrences at one virtual time: more are a loop that waits for nothing. */
const occurrencesMax = 200_000;

/**
 * Virtual time: a queue of occurrences. Nothing runs in parallel: one occurrence runs, and every promise that it resolved,
 * before the next one. Time passes only between them.
 */
export class Timeline {
  readonly #options: TimelineOptions;
  readonly #heap: TimelineEntry[] = [];
  /** Times of the entries at the same places. Numbers side by side are compared faster than fields of objects. */
  readonly #times: number[] = [];
  #nowMs = 0;
  #atThisInstant = 0;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** Milliseconds since the start. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Runs `run` at that time, at once if it has passed. Cancelled by setting `cancelled`. */
  at(atMs: number, run: () => void): Occurrence {
    const entry: TimelineEntry = {
      atMs: Math.max(atMs, this.#nowMs),
      rank: this.#options.random.next(),
      run,
      cancelled: false,
    };
    this.#rise(entry);
    return entry;
  }

  after(ms: number, run: () => void): Occurrence {
    return this.at(this.#nowMs + ms, run);
  }

  /** Lets time pass until then. Rejects if time does not advance any more, and with what an occurrence throws. */
  runUntil(untilMs: number): Promise<void> {
    const { settle, afterInstant } = this.#options;
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          const next = this.#takeUntil(untilMs);
          if (next !== undefined) {
            this.#advanceTo(next.atMs);
            next.run();
            return settle(step);
          }
          this.#advanceTo(untilMs);
          afterInstant?.();
          resolve();
        } catch (error) {
          reject(error);
        }
      };
      settle(step);
    });
  }

  /** The next occurrence up to that time; undefined if there is none. */
  #takeUntil(untilMs: number): TimelineEntry | undefined {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs; next = this.#heap[0]) {
      this.#pop();
      if (!next.cancelled) return next;
    }
    return undefined;
  }

  #advanceTo(atMs: number): void {
    this.#atThisInstant += 1;
    if (this.#atThisInstant > occurrencesMax) throw new Error(`time does not advance beyond ${this.#nowMs} ms`);
    if (atMs <= this.#nowMs) return;
    this.#options.afterInstant?.();
    this.#nowMs = atMs;
    this.#atThisInstant = 0;
  }

  #pop(): void {
    const last = this.#heap.pop();
    this.#times.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
  }

  /** Puts the entry in its place on the way from the end to the root. */
  #rise(entry: TimelineEntry): void {
    let index = this.#heap.length;
    this.#place(index, entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !this.#isBefore(entry, above)) break;
      this.#place(index, parent);
      index = above;
    }
    this.#place(index, entry);
  }

  /** Puts the entry in its place on the way from the root to the end; the root is free. */
  #sink(entry: TimelineEntry): void {
    let index = 0;
    for (let below = 1; below < this.#heap.length; below = 2 * index + 1) {
      if (below + 1 < this.#heap.length && this.#precedes(below + 1, below)) below += 1;
      const child = this.#heap[below];
      if (child === undefined || this.#isBefore(entry, below)) break;
      this.#place(index, child);
      index = below;
    }
    this.#place(index, entry);
  }

  #place(index: number, entry: TimelineEntry): void {
    this.#heap[index] = entry;
    this.#times[index] = entry.atMs;
  }

  #precedes(first: number, second: number): boolean {
    const [atMs = Infinity, otherMs = Infinity] = [this.#times[first], this.#times[second]];
    if (atMs !== otherMs) return atMs < otherMs;
    return (this.#heap[first]?.rank ?? Infinity) < (this.#heap[second]?.rank ?? Infinity);
  }

  #isBefore(entry: TimelineEntry, index: number): boolean {
    const atMs = this.#times[index] ?? Infinity;
    return entry.atMs < atMs || (entry.atMs === atMs && entry.rank < (this.#heap[index]?.rank ?? Infinity));
  }
}
