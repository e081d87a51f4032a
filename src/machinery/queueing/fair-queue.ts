interface Flow<T> {
  readonly weight: number;
  readonly items: Set<T>;
  /** Increases by 1/weight with each item taken: the flow with the minimum is next. */
  passed: number;
}

/**
 * Items of several flows; each flow with queued items gets its weighted share of the items taken, and within a flow the
 * oldest is next (start-time fair queueing). A flow that was empty does not accumulate a share.
 */
export class FairQueue<F extends string, T> {
  readonly #flows: ReadonlyMap<string, Flow<T>>;
  #size = 0;

  /** `weights`: all flows; weights are above 0. */
  constructor(weights: Readonly<Record<F, number>>) {
    const entries = Object.entries<number>(weights);
    this.#flows = new Map(entries.map(([name, weight]) => [name, { weight, items: new Set<T>(), passed: 0 }]));
  }

  get size(): number {
    return this.#size;
  }

  add(name: F, item: T): void {
    const flow = this.#flows.get(name);
    if (flow === undefined || flow.items.has(item)) return;
    if (flow.items.size === 0) flow.passed = Math.max(flow.passed, this.#leastPassed());
    flow.items.add(item);
    this.#size += 1;
  }

  /** No-op if the item is not queued in this flow. */
  remove(name: F, item: T): void {
    if (this.#flows.get(name)?.items.delete(item) === true) this.#size -= 1;
  }

  /** Takes the next item; undefined if no item is queued. */
  take(): T | undefined {
    const flow = this.#next();
    if (flow === undefined) return undefined;
    const [item] = flow.items;
    if (item === undefined) return undefined;
    flow.items.delete(item);
    flow.passed += 1 / flow.weight;
    this.#size -= 1;
    return item;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const { items } of this.#flows.values()) yield* items;
  }

  #next(): Flow<T> | undefined {
    let next: Flow<T> | undefined;
    for (const flow of this.#flows.values()) {
      if (flow.items.size > 0 && (next === undefined || flow.passed < next.passed)) next = flow;
    }
    return next;
  }

  #leastPassed(): number {
    return this.#next()?.passed ?? Math.max(0, ...[...this.#flows.values()].map(({ passed }) => passed));
  }
}
