import { isOlder } from '../../src/machinery/api/resource-version.ts';
import type { Change, Informer, InformerStatus, StoreReader } from '../../src/machinery/informer/informer.ts';

/** An informer whose server is the test: a set object is stored and then delivered to the handlers. */
export class FakeInformer<T> implements Informer<T>, StoreReader<T> {
  readonly name: string;
  readonly store: StoreReader<T> = this;
  /** Monotonic time of the last frame of the stream; set by tests of watch freshness. */
  lastFrameAtMs: () => number | undefined = () => 0;
  state: InformerStatus['state'] = 'watching';
  reopened = 0;
  relisted = 0;
  lastListAtMs = 0;
  /** The objects that a list from the API server would return. */
  onRelist: () => void = () => undefined;
  /** How far the stream has come, by changes and bookmarks. */
  streamVersion: () => string = () => '1';
  readonly noticedVersions: string[] = [];
  /** Keys of objects whose last state could not be decoded. */
  readonly undecoded = new Set<string>();
  readonly #items = new Map<string, T>();
  readonly #indexes: Readonly<Record<string, (object: T) => readonly string[]>>;
  /** Objects by index and value, as of the last change. */
  readonly #found = new Map<string, ReadonlyMap<string, readonly T[]>>();
  readonly #listeners = new Set<(change: Change<T>) => void>();

  constructor(name: string, indexes: Readonly<Record<string, (object: T) => readonly string[]>> = {}) {
    this.name = name;
    this.#indexes = indexes;
  }

  get size(): number {
    return this.#items.size;
  }

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  /** A one-time iterable, as of the real store. */
  keys(): Iterable<string> {
    return new Map(this.#items).keys();
  }

  values(): Iterable<T> {
    return new Map(this.#items).values();
  }

  byIndex(index: string, value: string): readonly T[] {
    const indexOf = this.#indexes[index];
    if (indexOf === undefined) throw new RangeError(`${this.name} has no index ${index}`);
    const known = this.#found.get(index) ?? this.#group(indexOf);
    this.#found.set(index, known);
    return known.get(value) ?? [];
  }

  #group(indexOf: (object: T) => readonly string[]): ReadonlyMap<string, readonly T[]> {
    const groups = new Map<string, T[]>();
    for (const object of this.#items.values())
      for (const value of indexOf(object)) {
        const group = groups.get(value);
        if (group === undefined) groups.set(value, [object]);
        else group.push(object);
      }
    return groups;
  }

  isUndecoded(key: string): boolean {
    return this.undecoded.has(key);
  }

  set(key: string, object: T): void {
    const previous = this.#items.get(key);
    this.#found.clear();
    this.#items.set(key, object);
    this.#notify(previous === undefined ? { kind: 'added', key, object } : { kind: 'modified', key, object, previous });
  }

  /** As a list does after which every object counts as changed. */
  repeatAll(): void {
    for (const [key, object] of this.#items) this.set(key, object);
  }

  delete(key: string): void {
    const object = this.#items.get(key);
    if (object === undefined) return;
    this.#found.clear();
    this.#items.delete(key);
    this.#notify({ kind: 'deleted', key, object });
  }

  /** Its event is lost. */
  removeUnnoticed(key: string): void {
    this.#found.clear();
    this.#items.delete(key);
  }

  onChange(_name: string, listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    for (const [key, object] of this.#items) listener({ kind: 'added', key, object });
    return () => this.#listeners.delete(listener);
  }

  reopen(): void {
    this.reopened += 1;
  }

  relist(): void {
    this.relisted += 1;
    this.onRelist();
  }

  noticeRollback(): void {}

  noticeServerVersion(serverVersion: string, reachedBefore: string): boolean {
    this.noticedVersions.push(serverVersion);
    return isOlder(serverVersion, reachedBefore);
  }

  hasSynced(): boolean {
    return true;
  }

  status(): InformerStatus {
    return {
      state: this.state,
      synced: true,
      lastFrameAtMs: this.lastFrameAtMs(),
      lastListAtMs: this.lastListAtMs,
      lastListSentAtMs: this.lastListAtMs,
      consecutiveFailures: 0,
      resourceVersion: this.streamVersion(),
      lastError: undefined,
    };
  }

  run(): Promise<void> {
    return Promise.resolve();
  }

  #notify(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}
