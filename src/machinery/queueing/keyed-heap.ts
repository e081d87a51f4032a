interface HeapEntry {
  readonly key: string;
  dueMs: number;
  order: number;
}

/**
 * A binary heap of keys by due time, each key once. Equal times are ordered by insertion, so that the order is
 * deterministic. Setting, updating and removing cost O(log n).
 */
export class KeyedHeap {
  readonly #entries: HeapEntry[] = [];
  readonly #indexes = new Map<string, number>();
  #order = 0;

  get size(): number {
    return this.#entries.length;
  }

  has(key: string): boolean {
    return this.#indexes.has(key);
  }

  dueMs(key: string): number | undefined {
    const index = this.#indexes.get(key);
    return index === undefined ? undefined : this.#entries[index]?.dueMs;
  }

  /** Adds the key, or changes its due time. An unchanged due time keeps its order. */
  set(key: string, dueMs: number): void {
    if (this.dueMs(key) === dueMs) return;
    this.remove(key);
    this.#entries.push({ key, dueMs, order: this.#order++ });
    this.#indexes.set(key, this.#entries.length - 1);
    this.#rise(this.#entries.length - 1);
  }

  remove(key: string): boolean {
    const index = this.#indexes.get(key);
    if (index === undefined) return false;
    const last = this.#entries.length - 1;
    this.#swap(index, last);
    this.#entries.pop();
    this.#indexes.delete(key);
    if (index < last) {
      this.#rise(index);
      this.#sink(index);
    }
    return true;
  }

  peek(): { readonly key: string; readonly dueMs: number } | undefined {
    return this.#entries[0];
  }

  /** Number of due keys. Visits only due entries and their direct children. */
  countDue(nowMs: number, index = 0): number {
    const entry = this.#entries[index];
    if (entry === undefined || entry.dueMs > nowMs) return 0;
    return 1 + this.countDue(nowMs, 2 * index + 1) + this.countDue(nowMs, 2 * index + 2);
  }

  /** Removes and returns the earliest key that is due at `nowMs`. */
  popDue(nowMs: number): string | undefined {
    const head = this.#entries[0];
    if (head === undefined || head.dueMs > nowMs) return undefined;
    this.remove(head.key);
    return head.key;
  }

  /** Removes and returns all keys that are due at `nowMs`, earliest first. */
  takeDue(nowMs: number): readonly string[] {
    const due: string[] = [];
    for (let key = this.popDue(nowMs); key !== undefined; key = this.popDue(nowMs)) due.push(key);
    return due;
  }

  /** Milliseconds until the first key is due; Infinity without one. */
  dueInMs(nowMs: number): number {
    return Math.max(0, (this.#entries[0]?.dueMs ?? Infinity) - nowMs);
  }

  /** All keys, earliest first. */
  keysInOrder(): readonly string[] {
    return [...this.#entries].sort((a, b) => (isBefore(a, b) ? -1 : 1)).map((entry) => entry.key);
  }

  #rise(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#precedes(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(start: number): void {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      const child = this.#precedes(left + 1, left) ? left + 1 : left;
      if (!this.#precedes(child, index)) return;
      this.#swap(index, child);
      index = child;
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
    this.#indexes.set(second.key, a);
    this.#indexes.set(first.key, b);
  }
}

function isBefore(a: HeapEntry, b: HeapEntry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
