import type { Random } from '../../ports/random.ts';

/** Something that happens at a virtual time. */
export interface Occurrence {
  readonly atMs: number;
  cancelled: boolean;
}

interface Entry extends Occurrence {
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

/** More occurrences than this at one virtual time: a loop that waits for nothing. */
const occurrencesMax = 200_000;

/**
 * Virtual time: a queue of occurrences. Nothing runs in parallel: one occurrence runs, and every promise that it resolved,
 * before the next one. Time passes only between them.
 */
export class Timeline {
  readonly #options: TimelineOptions;
  readonly #heap: Entry[] = [];
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
    const entry: Entry = {
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
  #takeUntil(untilMs: number): Entry | undefined {
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
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
  }

  /** Puts the entry in its place on the way from the end to the root. */
  #rise(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = entry;
  }

  /** Puts the entry in its place on the way from the root to the end; the root is free. */
  #sink(entry: Entry): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      let child = heap[below];
      if (child === undefined) break;
      const right = heap[below + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        below += 1;
      }
      if (!isBefore(child, entry)) break;
      heap[index] = child;
      index = below;
    }
    heap[index] = entry;
  }
}

function isBefore(first: Entry, second: Entry): boolean {
  return first.atMs < second.atMs || (first.atMs === second.atMs && first.rank < second.rank);
}
