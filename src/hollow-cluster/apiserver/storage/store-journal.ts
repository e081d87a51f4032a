import type { StoredObject } from './stored-object.ts';

/** Where a store writes each change before it applies it. A change that cannot be written is not applied. */
export interface StoreJournal {
  /** Throws if it cannot be written. */
  put(table: string, object: StoredObject): void;
  /** `object` has the revision of the deletion. Throws if it cannot be written. */
  remove(table: string, object: StoredObject): void;
}
