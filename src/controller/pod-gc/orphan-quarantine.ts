import { KeyedHeap } from '../../machinery/queueing/keyed-heap.ts';

/**
 * Nodes that pods are bound to and that are not in the cache. A pod may be observed before its node, so a name waits
 * before the node counts as deleted; a name that is no longer missing is dropped, and would wait again.
 */
export class OrphanQuarantine {
  readonly #dueAt = new KeyedHeap();
  readonly #quarantineMs: number;

  constructor(quarantineMs: number) {
    this.#quarantineMs = quarantineMs;
  }

  /** Updates the set of missing names; returns which are new, and which are no longer missing. */
  observe(
    missing: ReadonlySet<string>,
    nowMs: number,
  ): { readonly entered: readonly string[]; readonly left: readonly string[] } {
    const entered = [...missing].filter((name) => !this.#dueAt.has(name));
    const left = this.#dueAt.keysInOrder().filter((name) => !missing.has(name));
    for (const name of left) this.#dueAt.remove(name);
    for (const name of entered) this.restart(name, nowMs);
    return { entered, left };
  }

  /** Number of names that wait or have waited long enough. */
  get size(): number {
    return this.#dueAt.size;
  }

  /** When the quarantine of this name ends; undefined if it has not begun. */
  endsAtMs(name: string): number | undefined {
    return this.#dueAt.dueMs(name);
  }

  /** Names whose quarantine has ended, earliest first, until they are released or restarted. */
  due(nowMs: number): readonly string[] {
    return this.#dueAt.keysInOrder().filter((name) => (this.#dueAt.dueMs(name) ?? Infinity) <= nowMs);
  }

  restart(name: string, nowMs: number): void {
    this.#dueAt.set(name, nowMs + this.#quarantineMs);
  }

  /** The node could not be read: its quarantine stays ended, and others are read before it. */
  moveBack(name: string, nowMs: number): void {
    this.#dueAt.set(name, nowMs);
  }

  release(name: string): void {
    this.#dueAt.remove(name);
  }
}
