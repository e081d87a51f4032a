// Records values that change over time in bounded memory: beyond the limit only the last change of each key in a step of
// time is kept, and the step grows with the number of changes.

export interface LoggedChange<T> {
  readonly atMs: number;
  readonly key: number;
  readonly value: T;
}

const firstStepMs = 1_000;

export class ChangeLog<T> {
  readonly #max: number;
  #changes: LoggedChange<T>[] = [];
  /** Position of the last change of each key. */
  readonly #last = new Map<number, number>();
  #stepMs = 0;

  /** `max`: at least twice the number of keys. */
  constructor(max: number) {
    this.#max = max;
  }

  /** 0: nothing was left out. Otherwise a value that lasted for less may be missing. */
  get stepMs(): number {
    return this.#stepMs;
  }

  /** In the order of time. */
  get changes(): readonly LoggedChange<T>[] {
    return this.#changes;
  }

  add(change: LoggedChange<T>): void {
    this.#put(change);
    while (this.#changes.length > this.#max) this.#coarsen();
  }

  #put(change: LoggedChange<T>): void {
    const position = this.#last.get(change.key);
    const last = position === undefined ? undefined : this.#changes[position];
    if (position !== undefined && last !== undefined && this.#isSameStep(last.atMs, change.atMs)) {
      // The time of the first change of the step: the order of the list stays that of time.
      this.#changes[position] = { ...change, atMs: last.atMs };
      return;
    }
    this.#last.set(change.key, this.#changes.length);
    this.#changes.push(change);
  }

  #isSameStep(aMs: number, bMs: number): boolean {
    return this.#stepMs > 0 && Math.floor(aMs / this.#stepMs) === Math.floor(bMs / this.#stepMs);
  }

  #coarsen(): void {
    this.#stepMs = this.#stepMs === 0 ? firstStepMs : this.#stepMs * 2;
    const all = this.#changes;
    this.#changes = [];
    this.#last.clear();
    for (const change of all) this.#put(change);
  }
}
