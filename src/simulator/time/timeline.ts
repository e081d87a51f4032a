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
  /** Resolves when all promises that can settle without another occurrence have settled. */
  readonly settle: () => Promise<void>;
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
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    return entry;
  }

  after(ms: number, run: () => void): Occurrence {
    return this.at(this.#nowMs + ms, run);
  }

  /** Lets time pass until then. Throws if time does not advance any more. */
  async runUntil(untilMs: number): Promise<void> {
    await this.#options.settle();
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs; next = this.#heap[0]) {
      this.#pop();
      if (next.cancelled) continue;
      this.#advanceTo(next.atMs);
      next.run();
      await this.#options.settle();
    }
    this.#advanceTo(untilMs);
    this.#options.afterInstant?.();
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
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(from: number): void {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(from: number): void {
    for (let index = from; ; ) {
      const left = 2 * index + 1;
      const right = left + 1;
      let first = index;
      if (left < this.#heap.length && this.#isBefore(left, first)) first = left;
      if (right < this.#heap.length && this.#isBefore(right, first)) first = right;
      if (first === index) return;
      this.#swap(index, first);
      index = first;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) return false;
    return first.atMs < second.atMs || (first.atMs === second.atMs && first.rank < second.rank);
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) return;
    this.#heap[a] = second;
    this.#heap[b] = first;
  }
}
