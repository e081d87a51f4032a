/** The interface of an informer. `shared-informer.ts` is the implementation. */
import type { ObjectKey } from '../api/object-key.ts';

export type Change<T> =
  | { readonly kind: 'added'; readonly key: ObjectKey; readonly object: T }
  | { readonly kind: 'modified'; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  /** `object` is the last known state; after a relist it may not be the final one (client-go `DeletedFinalStateUnknown`). */
  | { readonly kind: 'deleted'; readonly key: ObjectKey; readonly object: T };

/** Must be quick and should only enqueue a key and return: it blocks the event loop. */
export type Listener<T> = (change: Change<T>) => void;

/** Read access to the store. A relist replaces the contents in one step: no reader sees a partial state. */
export interface StoreReader<T> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  keys(): Iterable<ObjectKey>;
  values(): Iterable<T>;
  /** Objects whose index function returned this value. Throws a RangeError for an index that is not declared. */
  byIndex(index: string, value: string): readonly T[];
}

/** State of the stream behind an informer; readiness and freshness are derived from it. */
export interface InformerStatus {
  /** `opening`: a watch was requested, and the server has not answered yet. */
  readonly state: 'idle' | 'listing' | 'opening' | 'watching' | 'backing-off' | 'stopped';
  /** Monotonic time since when it is in this state; `listing` begins again with the answer to a streaming list. */
  readonly stateSinceMs?: number | undefined;
  readonly synced: boolean;
  /** Monotonic time of the last frame (event, bookmark or page); undefined before the first. */
  readonly lastFrameAtMs: number | undefined;
  readonly lastListAtMs: number | undefined;
  /**
   * When the last complete state was requested, if the most recent one was: it contains every write that was answered
   * before.
   */
  readonly lastListSentAtMs?: number | undefined;
  /** When it was last noticed, or listed, that the storage was restored from a backup, or may have been; undefined: never. */
  readonly restoredAtMs?: number | undefined;
  readonly consecutiveFailures: number;
  readonly resourceVersion: string;
  readonly lastError: string | undefined;
}

export interface Informer<T> {
  readonly name: string;
  readonly store: StoreReader<T>;
  /**
   * Calls the listener for each change, in order, after the store contains it and before any other code can read the
   * store. A listener added later has received every stored object as `added` when this returns. What it throws is logged
   * and counted by its name, and reaches neither the informer nor other listeners. Returns the unsubscribe function.
   */
  onChange(name: string, listener: Listener<T>): () => void;
  /** The first complete state is in the store, and every listener has received it. */
  hasSynced(): boolean;
  /** The current state; the object changes with it. */
  status(): InformerStatus;
  /** The last state of this object that was received could not be decoded: the stored one, if any, is an earlier one. */
  isUndecoded(key: ObjectKey): boolean;
  /**
   * For a caller that detected a dead connection: reopens the stream from its last version, without a relist. One that
   * was answered after this monotonic time is kept, or requested, if it has no answer yet.
   */
  reopen(openedByMs?: number): void;
  /**
   * Ends the current watch and reads a complete state with a list at no resourceVersion, which the server serves from
   * storage; then watches from there. For a caller that detected that the watch is unreliable. Returns at once:
   * `status().lastListAtMs` changes when the state is in the store. No effect while such a state is being read, and for
   * 10 s after one was; during a retry delay it takes effect at the end of the delay. Dropped where the server is too busy for
   * lists (429): the watch is tried from its version before the next list that is asked for.
   */
  relist(): void;
  /**
   * Compares `serverVersion`, the version in a response to a read of the same resource without a resourceVersion, with
   * `reachedBefore`: `status().resourceVersion` before that read was sent. If the server is behind the stream (etcd
   * restored from a backup), the resource is listed again as by {@link relist}; its watch would stay silent until the
   * server passes the old version. No effect for versions that are not decimal numbers.
   * Returns whether it is listed again: then the other resources of that storage have to be too.
   */
  noticeServerVersion(serverVersion: string, reachedBefore: string): boolean;
  /**
   * For a caller that knows that the storage went back in time, whatever version this stream has reached: lists again as by
   * {@link relist}, even right after another list.
   */
  noticeRollback(): void;
  /** Lists and watches until the signal aborts, retrying every failure. Resolves when all its work has ended. */
  run(signal: AbortSignal): Promise<void>;
}
