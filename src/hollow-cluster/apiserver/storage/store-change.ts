import type { StoredObject } from './stored-object.ts';

/** A committed write, as the watch window keeps it and the watch hub delivers it. */
export interface StoreChange {
  readonly kind: 'added' | 'modified' | 'deleted';
  readonly revision: number;
  /** Object after the write; for a deletion the last state, with the deletion's own revision. */
  readonly object: StoredObject;
  /** Object before the write; undefined exactly when the object is new. */
  readonly previous: StoredObject | undefined;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}
