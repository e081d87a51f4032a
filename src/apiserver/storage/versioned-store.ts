/**
 * The whole server's memory: one revision counter, one table a resource. Every write of any resource takes the next
 * revision, so versions order changes across kinds as well. All of it is synchronous: between two lines of a caller nobody
 * else writes, and a snapshot together with a watch from its revision misses nothing.
 */
import type { ObjectKey } from '../../api/object-key.ts';
import type { Clock } from '../../ports/clock.ts';
import { ResourceTable, type Snapshot } from './resource-table.ts';
import type { StoreChange } from './store-change.ts';
import type { StoredObject } from './stored-object.ts';
import type { WindowSize } from './watch-window.ts';

/** Never 0 or 1: clients give those a meaning of their own. */
export const revisionFirst = 1_000;

export interface StoreOptions {
  readonly clock: Clock;
  /** Storage names; events of both groups share one. */
  readonly resources: readonly string[];
  readonly window?: WindowSize | undefined;
}

type Encode = (revision: number) => StoredObject;

export class VersionedStore {
  readonly #clock: Clock;
  readonly #tables: ReadonlyMap<string, ResourceTable>;
  readonly #waiting = new Set<() => void>();
  #revision = revisionFirst;
  #compactedTo = 0;

  constructor(options: StoreOptions) {
    this.#clock = options.clock;
    this.#tables = new Map(
      options.resources.map((name) => [name, new ResourceTable(revisionFirst, options.window)] as const),
    );
  }

  /** Revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** States older than this are gone for lists, whatever the watch windows still hold. */
  get compactedTo(): number {
    return this.#compactedTo;
  }

  /** Throws a RangeError for a resource that the store was not made for. */
  table(resource: string): ResourceTable {
    const table = this.#tables.get(resource);
    if (table === undefined) throw new RangeError(`nothing is stored under ${resource}`);
    return table;
  }

  tables(): Iterable<readonly [string, ResourceTable]> {
    return this.#tables;
  }

  get(resource: string, key: ObjectKey): StoredObject | undefined {
    return this.table(resource).get(key);
  }

  /** Stores what `encode` makes for the revision that this write takes. */
  put(resource: string, encode: Encode): StoredObject {
    return this.#commit(resource, encode, false);
  }

  /** Removes the object; what `encode` makes is its last state, under the deletion's own revision. */
  remove(resource: string, encode: Encode): StoredObject {
    return this.#commit(resource, encode, true);
  }

  /** The state at `revision`, or undefined where it is compacted away or no longer known. */
  at(resource: string, revision: number): Snapshot | undefined {
    return revision < this.#compactedTo ? undefined : this.table(resource).at(revision);
  }

  /** Forgets states before `revision` (the present one where absent). Never un-forgets. */
  compact(revision = this.#revision): void {
    this.#compactedTo = Math.max(this.#compactedTo, Math.min(revision, this.#revision));
    for (const table of this.#tables.values()) table.compact(this.#compactedTo);
  }

  /** Resolves with true once the store has reached `revision`, with false when it has not within `waitMs`. */
  async reach(revision: number, waitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#revision >= revision) return true;
    const given = new AbortController();
    const look = (): void => {
      if (this.#revision >= revision) given.abort();
    };
    this.#waiting.add(look);
    await this.#clock.sleep(waitMs, AbortSignal.any([given.signal, signal]));
    this.#waiting.delete(look);
    return this.#revision >= revision;
  }

  #commit(resource: string, encode: Encode, removes: boolean): StoredObject {
    const table = this.table(resource);
    const revision = this.#revision + 1;
    const object = encode(revision);
    const previous = table.get(object.key);
    if (removes && previous === undefined) throw new Error(`cannot remove ${resource} ${object.key}: it is not there`);
    this.#revision = revision;
    table.apply({ kind: kindOf(removes, previous), revision, object, previous, atMs: this.#clock.monotonicMs() });
    for (const look of this.#waiting) look();
    return object;
  }
}

function kindOf(removes: boolean, previous: StoredObject | undefined): StoreChange['kind'] {
  if (removes) return 'deleted';
  return previous === undefined ? 'added' : 'modified';
}
