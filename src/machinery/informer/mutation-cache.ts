import { areComparable, isOlder } from '../api/resource-version.ts';

interface Named {
  readonly name: string;
  readonly resourceVersion: string;
}

interface MutationEntry<T> {
  readonly view: T;
  readonly atMs: number;
  /** The newest version seen in the store since; undefined if none was seen. */
  stored: string | undefined;
  /** For versions that cannot be compared: the versions known to be older. */
  readonly superseded: ReadonlySet<string>;
}

interface MutationCacheOptions<T> {
  /** Returns the store key of an object; its name when absent. */
  readonly keyOf?: (view: T) => string;
  /** Monotonic. Without it entries do not expire. */
  readonly nowMs?: () => number;
  /** When the state of the store was requested as a whole: it contains what was remembered before, or a restore undid it. */
  readonly listSentAtMs?: () => number | undefined;
  /** Maximum age of an entry that the store does not reach. */
  readonly keepMsMax?: number;
}

/** A watch that is behind for longer is stale: dependent work waits for it or reads live. */
export const mutationKeepMsMax = 300_000;
/** As {@link mutationKeepMsMax} where versions cannot be compared: the store may have been the newer one. */
export const incomparableKeepMsMax = 30_000;
export const mutationEntriesMax = 10_000;

/**
 * Objects as the API server has them, including the results of writes and live reads (client-go `MutationCache`): until
 * the watch has delivered that version or a later one, the result overlays the store. Otherwise a decision in that time
 * would be taken twice, or on outdated state. Versions of one resource are compared as numbers. Of two that are none the one
 * that was read later counts, until the store has another one than those known then, for {@link incomparableKeepMsMax} at most.
 * An entry is removed when the store reaches it, when an object that was seen in the store is deleted, when the store is rolled
 * back, when the store was listed since, and after {@link MutationCacheOptions.keepMsMax}; beyond {@link mutationEntriesMax}
 * entries the oldest are removed.
 */
export class MutationCache<T extends Named> {
  readonly #fromStore: (name: string) => T | undefined;
  readonly #keyOf: (view: T) => string;
  readonly #nowMs: () => number;
  readonly #listSentAtMs: () => number | undefined;
  readonly #keepMsMax: number;
  readonly #entries = new Map<string, MutationEntry<T>>();

  constructor(fromStore: (name: string) => T | undefined, options: MutationCacheOptions<T> = {}) {
    this.#fromStore = fromStore;
    this.#keyOf = options.keyOf ?? (({ name }) => name);
    this.#nowMs = options.nowMs ?? (() => 0);
    this.#listSentAtMs = options.listSentAtMs ?? (() => undefined);
    this.#keepMsMax = options.keepMsMax ?? mutationKeepMsMax;
  }

  get(name: string): T | undefined {
    const fromStore = this.#fromStore(name);
    const entry = this.#entries.get(name);
    if (entry === undefined) return fromStore;
    if (this.#isNewer(entry, fromStore)) return entry.view;
    this.#entries.delete(name);
    return fromStore;
  }

  /**
   * `view` is the server's response; it replaces the state `before`, undefined if there was none. Dropped if the store or
   * an earlier entry is at least as new, and if the store no longer has the object of `before`. Returns whether the entry
   * is kept: false means that the response contains nothing new.
   */
  remember(before: T | undefined, view: T): boolean {
    const name = this.#keyOf(view);
    const known = this.get(name);
    if (view.resourceVersion === before?.resourceVersion) return false;
    if (known === undefined ? before !== undefined : isReached(known.resourceVersion, view.resourceVersion))
      return false;
    const superseded = new Set(this.#entries.get(name)?.superseded);
    for (const earlier of [before, known]) if (earlier !== undefined) superseded.add(earlier.resourceVersion);
    const stored = this.#fromStore(name)?.resourceVersion;
    this.#entries.delete(name);
    this.#entries.set(name, { view, atMs: this.#nowMs(), stored, superseded });
    this.#bound();
    return true;
  }

  /** From now on `get` returns this object from the store. */
  forget(name: string): void {
    this.#entries.delete(name);
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  #isNewer(entry: MutationEntry<T>, fromStore: T | undefined): boolean {
    if (this.#nowMs() - entry.atMs > this.#keepMsMax) return false;
    if (entry.atMs < (this.#listSentAtMs() ?? -Infinity)) return false;
    // An object never seen in the store may not have arrived yet; one that was seen has been deleted.
    if (fromStore === undefined) return entry.stored === undefined;
    const { resourceVersion } = fromStore;
    const rolledBack = entry.stored !== undefined && isOlder(resourceVersion, entry.stored);
    if (rolledBack) return false;
    entry.stored = resourceVersion;
    if (areComparable(resourceVersion, entry.view.resourceVersion))
      return isOlder(resourceVersion, entry.view.resourceVersion);
    return entry.superseded.has(resourceVersion) && this.#nowMs() - entry.atMs <= incomparableKeepMsMax;
  }

  #bound(): void {
    for (const name of this.#entries.keys()) {
      if (this.#entries.size <= mutationEntriesMax) return;
      this.#entries.delete(name);
    }
  }
}

/** `version` is `wanted` or later; false if they cannot be compared. */
function isReached(version: string, wanted: string): boolean {
  return version === wanted || (areComparable(version, wanted) && !isOlder(version, wanted));
}
