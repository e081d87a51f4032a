interface Entry {
  readonly key: string;
  dueMs: number;
  order: number;
}

/**
 * A binary heap of keys by due time, each key once. Equal times leave in the order in which they were set, so that the
 * same history always gives the same order. Setting, re-timing and removing cost O(log n).
 */
export class KeyedHeap {
  readonly #entries: Entry[] = [];
  readonly #places = new Map<string, number>();
  #order = 0;

  get size(): number {
    return this.#entries.length;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  dueMs(key: string): number | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#entries[place]?.dueMs;
  }

  /** Adds the key, or moves it to another time. */
  set(key: string, dueMs: number): void {
    this.remove(key);
    this.#entries.push({ key, dueMs, order: this.#order++ });
    this.#places.set(key, this.#entries.length - 1);
    this.#rise(this.#entries.length - 1);
  }

  remove(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    const last = this.#entries.length - 1;
    this.#swap(place, last);
    this.#entries.pop();
    this.#places.delete(key);
    if (place < last) {
      this.#rise(place);
      this.#sink(place);
    }
    return true;
  }

  peek(): { readonly key: string; readonly dueMs: number } | undefined {
    return this.#entries[0];
  }

  /** How many keys are due. Looks at those alone, and at the first that is not on each way. */
  countDue(nowMs: number, place = 0): number {
    const entry = this.#entries[place];
    if (entry === undefined || entry.dueMs > nowMs) return 0;
    return 1 + this.countDue(nowMs, 2 * place + 1) + this.countDue(nowMs, 2 * place + 2);
  }

  /** Removes and returns the earliest key that is due at `nowMs`. */
  popDue(nowMs: number): string | undefined {
    const head = this.#entries[0];
    if (head === undefined || head.dueMs > nowMs) return undefined;
    this.remove(head.key);
    return head.key;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#places.clear();
  }

  /** All keys, earliest first. */
  keysInOrder(): readonly string[] {
    return [...this.#entries].sort((a, b) => (isBefore(a, b) ? -1 : 1)).map((entry) => entry.key);
  }

  #rise(start: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#precedes(place, parent)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  #sink(start: number): void {
    let place = start;
    for (;;) {
      const left = 2 * place + 1;
      const child = this.#precedes(left + 1, left) ? left + 1 : left;
      if (!this.#precedes(child, place)) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #precedes(a: number, b: number): boolean {
    const first = this.#entries[a];
    const second = this.#entries[b];
    return first !== undefined && second !== undefined && isBefore(first, second);
  }

  #swap(a: number, b: number): void {
    const first = this.#entries[a];
    const second = this.#entries[b];
    if (first === undefined || second === undefined) return;
    this.#entries[a] = second;
    this.#entries[b] = first;
    this.#places.set(second.key, a);
    this.#places.set(first.key, b);
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
