/**
 * The watch cache of one API server: a copy of the storage that follows it change by change, and may lag behind. Several
 * servers over one storage each have their own.
 */
import type { Clock } from '../../../machinery/ports/clock.ts';
import { ResourceTable, type Snapshot } from './resource-table.ts';
import { RevisionWaiters } from './revision-waiters.ts';
import type { StoreChange } from './store-change.ts';
import type { ReadableStore, VersionedStore } from './versioned-store.ts';

export class WatchCache implements ReadableStore {
  readonly #tables = new Map<string, ResourceTable>();
  readonly #waiters: RevisionWaiters;
  #revision: number;

  /** Starts with the current state of the storage. */
  constructor(storage: VersionedStore, clock: Clock) {
    this.#waiters = new RevisionWaiters(clock, () => this.#revision);
    this.#revision = storage.revision;
    for (const [name, table] of storage.tables()) {
      const own = new ResourceTable(storage.revision, undefined);
      own.reset(table.now(), storage.revision);
      this.#tables.set(name, own);
    }
  }

  /** The revision that it has reached. */
  get revision(): number {
    return this.#revision;
  }

  table(resource: string): ResourceTable {
    const table = this.#tables.get(resource);
    if (table === undefined) throw new RangeError(`unknown resource ${resource}`);
    return table;
  }

  at(resource: string, revision: number): Snapshot | undefined {
    return this.table(resource).at(revision);
  }

  /** The next change of the storage, of any resource. */
  apply(resource: string, change: StoreChange): void {
    this.#revision = change.revision;
    this.table(resource).apply(change);
    this.#waiters.notify();
  }

  /** See {@link ReadableStore}. */
  reach(revision: number, waitMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#waiters.reach(revision, waitMs, signal);
  }
}
