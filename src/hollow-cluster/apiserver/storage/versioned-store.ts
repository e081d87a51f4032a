/**
 * The storage of the server: one revision counter, one table per resource. Every write of any resource takes the next
 * revision, so versions order changes across kinds as well. All operations are synchronous: no other write can come
 * between two statements of a caller, and a snapshot together with a watch from its revision misses nothing.
 */
import type { ObjectKey } from '../../../machinery/api/object-key.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import { RevisionWaiters } from './revision-waiters.ts';
import { ResourceTable, type Snapshot } from './resource-table.ts';
import type { StoreChange } from './store-change.ts';
import type { StoredObject } from './stored-object.ts';
import type { WindowSize } from './watch-window.ts';

/** Not 0 or 1: clients give those a special meaning. */
const revisionFirst = 1_000;

/** Where a store writes each change before it applies it. A change that cannot be written is not applied. */
export interface StoreJournal {
  /** Throws if it cannot be written. */
  put(table: string, object: StoredObject): void;
  /** `object` has the revision of the deletion. Throws if it cannot be written. */
  remove(table: string, object: StoredObject): void;
}

interface StoreOptions {
  readonly clock: Clock;
  /** Table names; events of both groups share one. */
  readonly resources: readonly string[];
  readonly window?: WindowSize | undefined;
  /** Default: changes are kept in memory only. */
  readonly journal?: StoreJournal | undefined;
}

type Build = (revision: number) => StoredObject;

/** What lists and watches read: the storage itself, or a watch cache that follows it. */
export interface ReadableStore {
  readonly revision: number;
  table(resource: string): ResourceTable;
  at(resource: string, revision: number): Snapshot | undefined;
  /** Resolves with true once it has reached `revision`, with false if it has not within `waitMs`. */
  reach(revision: number, waitMs: number, signal: AbortSignal): Promise<boolean>;
}

/** The contents of a store at one revision. */
export interface Backup {
  readonly revision: number;
  readonly tables: ReadonlyMap<string, Snapshot>;
}

export class VersionedStore implements ReadableStore {
  readonly #clock: Clock;
  readonly #tables: ReadonlyMap<string, ResourceTable>;
  readonly #waiters: RevisionWaiters;
  readonly #journal: StoreJournal | undefined;
  #revision = revisionFirst;
  #compactedTo = 0;

  constructor(options: StoreOptions) {
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.#waiters = new RevisionWaiters(options.clock, () => this.#revision);
    this.#tables = new Map(
      options.resources.map((name) => [name, new ResourceTable(revisionFirst, options.window)] as const),
    );
  }

  /** Revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** Lists cannot read states older than this, even if the watch windows still contain them. */
  get compactedTo(): number {
    return this.#compactedTo;
  }

  /** Throws a RangeError for a resource without a table. */
  table(resource: string): ResourceTable {
    const table = this.#tables.get(resource);
    if (table === undefined) throw new RangeError(`unknown resource ${resource}`);
    return table;
  }

  tables(): Iterable<readonly [string, ResourceTable]> {
    return this.#tables;
  }

  get(resource: string, key: ObjectKey): StoredObject | undefined {
    return this.table(resource).get(key);
  }

  /** Stores the object that `build` returns for the revision of this write. */
  put(resource: string, build: Build): StoredObject {
    return this.#commit(resource, build, false);
  }

  /** Removes the object; `build` returns its last state, with the revision of the deletion. */
  remove(resource: string, build: Build): StoredObject {
    return this.#commit(resource, build, true);
  }

  /** The state at `revision`; undefined if it is compacted or no longer available. */
  at(resource: string, revision: number): Snapshot | undefined {
    return revision < this.#compactedTo ? undefined : this.table(resource).at(revision);
  }

  /** Compacts states before `revision` (default: the current one). Never moves back. */
  compact(revision = this.#revision): void {
    this.#compactedTo = Math.max(this.#compactedTo, Math.min(revision, this.#revision));
    for (const table of this.#tables.values()) table.compact(this.#compactedTo);
  }

  backup(): Backup {
    const tables = new Map([...this.#tables].map(([name, table]) => [name, table.now()] as const));
    return { revision: this.#revision, tables };
  }

  /**
   * Replaces everything by the backup, its revision included, as a restore of etcd does. Watchers are not notified: the
   * servers on this storage have to restart. Nothing is written to the journal.
   */
  restore(backup: Backup): void {
    this.#revision = backup.revision;
    this.#compactedTo = backup.revision;
    for (const [name, table] of this.#tables) table.reset(backup.tables.get(name), backup.revision);
  }

  /** See {@link ReadableStore}. */
  reach(revision: number, waitMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#waiters.reach(revision, waitMs, signal);
  }

  #commit(resource: string, build: Build, removes: boolean): StoredObject {
    const table = this.table(resource);
    const revision = this.#revision + 1;
    const object = build(revision);
    const previous = table.get(object.key);
    if (removes && previous === undefined) throw new Error(`cannot remove ${resource} ${object.key}: not found`);
    if (removes) this.#journal?.remove(resource, object);
    else this.#journal?.put(resource, object);
    this.#revision = revision;
    table.apply({ kind: kindOf(removes, previous), revision, object, previous, atMs: this.#clock.monotonicMs() });
    this.#waiters.notify();
    return object;
  }
}

function kindOf(removes: boolean, previous: StoredObject | undefined): StoreChange['kind'] {
  if (removes) return 'deleted';
  return previous === undefined ? 'added' : 'modified';
}
