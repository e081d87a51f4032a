import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';

/**
 * Nodes whose state is to be computed again: marked because something about them changed, or because a time has come. One
 * entry for each node at most.
 */
export class NodeMarks {
  #marked = new Set<string>();
  readonly #due = new KeyedHeap();

  add(name: string): void {
    this.#marked.add(name);
  }

  addAll(names: Iterable<string>): void {
    for (const name of names) this.#marked.add(name);
  }

  /** Marks the node at this monotonic time, and at no other; undefined: not again. */
  markAt(name: string, atMs: number | undefined): void {
    if (atMs === undefined || !Number.isFinite(atMs)) this.#due.remove(name);
    else this.#due.set(name, atMs);
  }

  /** Removes and returns the marked nodes. */
  take(nowMs: number): ReadonlySet<string> {
    this.addAll(this.#due.takeDue(nowMs));
    const marked = this.#marked;
    this.#marked = new Set();
    return marked;
  }

  clear(): void {
    this.#marked.clear();
    for (let head = this.#due.peek(); head !== undefined; head = this.#due.peek()) this.#due.remove(head.key);
  }

  /** Number of entries of the larger collection. */
  get size(): number {
    return Math.max(this.#marked.size, this.#due.size);
  }
}
