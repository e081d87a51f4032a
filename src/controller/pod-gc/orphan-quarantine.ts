import { KeyedHeap } from '../../queueing/keyed-heap.ts';

/**
 * Nodes that pods are bound to and that we do not know. A pod may be seen before its node, so a name waits before anybody
 * believes that it is gone; a name that is no longer missing is forgotten, and would wait anew.
 */
export class OrphanQuarantine {
  readonly #dueAt = new KeyedHeap();
  readonly #quarantineMs: number;

  constructor(quarantineMs: number) {
    this.#quarantineMs = quarantineMs;
  }

  /** Takes notice of the names missing now; says which are so for the first time, and which no longer are. */
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

  /** How many names wait, or have waited long enough. */
  get size(): number {
    return this.#dueAt.size;
  }

  /** When the time of this name is over; undefined if nobody took notice of it yet. */
  endsAtMs(name: string): number | undefined {
    return this.#dueAt.dueMs(name);
  }

  /** Names whose time is over, earliest first. They stay so until they are released or start again. */
  due(nowMs: number): readonly string[] {
    return this.#dueAt.keysInOrder().filter((name) => (this.#dueAt.dueMs(name) ?? Infinity) <= nowMs);
  }

  restart(name: string, nowMs: number): void {
    this.#dueAt.set(name, nowMs + this.#quarantineMs);
  }

  release(name: string): void {
    this.#dueAt.remove(name);
  }
}
