interface SweepOptions {
  readonly names: () => Iterable<string>;
  /** Approximate number of the keys. */
  readonly size: () => number;
  readonly steps: number;
}

/** Visits the names of a collection that changes meanwhile, each once in about so many steps; then it is over. */
export class Sweep {
  readonly #options: SweepOptions;
  #rest: Iterator<string> | undefined;
  #isOver = false;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins again with the next step. */
  restart(): void {
    this.#rest = undefined;
    this.#isOver = false;
  }

  /** The names of the next step; none when it is over. */
  next(): Iterable<string> {
    const { size, steps } = this.#options;
    return this.#visit(Math.max(1, Math.ceil(size() / steps)));
  }

  /** All names that were not visited yet. */
  rest(): Iterable<string> {
    return this.#visit(Infinity);
  }

  *#visit(count: number): Iterable<string> {
    if (this.#isOver) return;
    const rest = (this.#rest ??= this.#options.names()[Symbol.iterator]());
    for (let visited = 0; visited < count; visited += 1) {
      const { done, value } = rest.next();
      if (done === true) {
        this.#isOver = true;
        return;
      }
      yield value;
    }
  }
}
