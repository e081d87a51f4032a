/** What the rest of the house sees of an informer. `shared-informer.ts` is the one that runs. */
import type { ObjectKey } from '../api/object-key.ts';

export type Change<T> =
  | { readonly kind: 'added'; readonly key: ObjectKey; readonly object: T }
  | { readonly kind: 'modified'; readonly key: ObjectKey; readonly object: T; readonly previous: T }
  /** `object` is the last state we know; after a relist that may not be the very last one. */
  | { readonly kind: 'deleted'; readonly key: ObjectKey; readonly object: T };

/** Must be quick, and is expected to note a key and return: nobody else runs until it does. */
export type Listener<T> = (change: Change<T>) => void;

/** Reading the local copy. A relist replaces it in one step: no reader ever sees half a cluster. */
export interface StoreReader<T> {
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  keys(): Iterable<ObjectKey>;
  values(): Iterable<T>;
  /** Objects whose index function named this value. Throws a RangeError for an index nobody declared. */
  byIndex(index: string, value: string): readonly T[];
}

/** What is known about the stream behind an informer; readiness and blindness are judged by it. */
export interface InformerStatus {
  readonly state: 'idle' | 'listing' | 'watching' | 'backing-off' | 'stopped';
  readonly synced: boolean;
  /** Monotonic time of the last byte that arrived (event or bookmark); undefined before the first. */
  readonly lastFrameAtMs: number | undefined;
  readonly lastListAtMs: number | undefined;
  readonly consecutiveFailures: number;
  readonly resourceVersion: string;
  readonly lastError: string | undefined;
}

export interface Informer<T> {
  readonly name: string;
  readonly store: StoreReader<T>;
  /**
   * Calls back at each change, in order, when the store already shows it or what came after it, and before anybody else
   * can see the store. A listener that joins late has heard of every object there is when this returns. What it throws
   * is logged and counted by its name, and never reaches the informer or other listeners. Returns the way to leave.
   */
  onChange(name: string, listener: Listener<T>): () => void;
  /** The first complete state is in the store, and every listener has heard of it. */
  hasSynced(): boolean;
  status(): InformerStatus;
  /** Somebody knows that the stream is dead although nothing says so: opens it anew from where it was, without a relist. */
  reopen(): void;
  /** Lists and watches until the signal aborts, through every failure of the server. Resolves when nothing runs any more. */
  run(signal: AbortSignal): Promise<void>;
}
