import type { ObjectKey } from '../../machinery/api/object-key.ts';
import type { Change, Informer, InformerStatus, Listener, StoreReader } from '../../machinery/informer/informer.ts';
import { Listeners } from '../../machinery/informer/listeners.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';

/** An informer whose objects differ from those of the informer behind it; streams and lists are as they are there. */
export abstract class ShadowInformer<T> implements Informer<T>, StoreReader<T> {
  readonly name: string;
  readonly store: StoreReader<T> = this;
  protected readonly listeners: Listeners<T>;
  readonly #behind: Informer<T>;

  constructor(behind: Informer<T>, options: Ambient) {
    this.#behind = behind;
    this.name = behind.name;
    this.listeners = new Listeners({ ...options, resource: `shadow-${this.name}` });
  }

  abstract get size(): number;
  abstract get(key: ObjectKey): T | undefined;
  abstract keys(): Iterable<ObjectKey>;
  abstract byIndex(index: string, value: string): readonly T[];
  /** The current state, for a new listener. */
  protected abstract everything(): Iterable<Change<T>>;

  *values(): Iterable<T> {
    for (const key of this.keys()) {
      const object = this.get(key);
      if (object !== undefined) yield object;
    }
  }

  onChange(name: string, listener: Listener<T>): () => void {
    return this.listeners.add(name, listener, this.everything());
  }

  hasSynced(): boolean {
    return this.#behind.hasSynced();
  }

  status(): InformerStatus {
    return this.#behind.status();
  }

  isUndecoded(key: ObjectKey): boolean {
    return this.#behind.isUndecoded(key);
  }

  reopen(openedByMs?: number): void {
    this.#behind.reopen(openedByMs);
  }

  relist(): void {
    this.#behind.relist();
  }

  noticeRollback(): void {
    this.#behind.noticeRollback();
  }

  noticeServerVersion(serverVersion: string, reachedBefore: string): boolean {
    return this.#behind.noticeServerVersion(serverVersion, reachedBefore);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#behind.run(signal);
  }
}
