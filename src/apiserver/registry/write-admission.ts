import type { Draft, StoredObject } from '../storage/stored-object.ts';
import type { Target } from './request-target.ts';

/** A write that is valid and not carried out yet. */
export interface CheckedWrite {
  readonly target: Target;
  readonly draft: Draft;
  /** Undefined for a creation. */
  readonly stored: StoredObject | undefined;
  /** The content of the stored object. */
  readonly before: Draft | undefined;
}

/** Decides about writes by what else is stored (upstream: validating admission plugins). */
export interface WriteAdmission {
  /** Throws an ApiError if the write is forbidden. Returns what to do in the same step as the write; a dry run does not. */
  admit(write: CheckedWrite): () => void;
}
