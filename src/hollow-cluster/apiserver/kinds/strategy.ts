import { ownValue, setOwn } from '../../../machinery/api/json-map.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { FieldError } from '../api-errors/field-errors.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import type { FieldLabels } from '../registry/selection.ts';

export type Endpoint = '' | 'status' | 'finalize';

/** What the rules of a write may depend on beyond the object. */
export interface WriteContext {
  /** All objects, before the write. */
  readonly objects: Pick<VersionedStore, 'get' | 'table'>;
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

/** Rules of one resource (upstream: the strategies in `pkg/registry`). */
export interface Strategy {
  /** Name of its table in the store, as in {@link tableOf}. */
  readonly table: string;
  readonly namespaced: boolean;
  readonly fieldLabels: FieldLabels;
  /** Field labels of groups that have others. */
  readonly fieldLabelsByGroup?: Readonly<Record<string, FieldLabels>>;
  /** A PUT creates a missing object. */
  readonly createsOnUpdate: boolean;
  /** A PUT without resourceVersion is rejected. */
  readonly needsVersion: boolean;
  /** DELETE returns the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Deletion waits for a grace period (pods). */
  readonly graceful: boolean;
  /** What is wrong with a name; nothing if it is valid. */
  readonly explainName: (name: string) => readonly string[];
  /** Fills in defaults; on every write, after decoding. */
  setDefaults(draft: Draft): void;
  /** Changes by admission plugins, on every write; the client does not own them. */
  admit(draft: Draft, context: WriteContext, stored?: Draft): void;
  prepareCreate(draft: Draft, context: WriteContext): void;
  /** Restores the fields that this endpoint must not change, and increments the generation. */
  prepareUpdate(draft: Draft, stored: Draft, endpoint: Endpoint, context: WriteContext): void;
  /** Validation on every write. All validation receives the group of the request. */
  validate(draft: Draft, group: string): readonly FieldError[];
  validateCreate(draft: Draft, group: string): readonly FieldError[];
  validateUpdate(draft: Draft, stored: Draft, endpoint: Endpoint, group: string): readonly FieldError[];
  /** Values of the field labels beyond metadata. */
  fieldsOf(draft: Draft): Readonly<Record<string, string>>;
}

/** The main endpoint keeps the status, `/status` keeps everything else but metadata. */
export function isolateStatus(draft: Draft, stored: Draft, endpoint: Endpoint): void {
  if (endpoint !== 'status') {
    takeField(draft, stored, 'status');
    return;
  }
  for (const field of new Set([...Object.keys(draft), ...Object.keys(stored)])) {
    if (!['metadata', 'status', 'kind', 'apiVersion'].includes(field)) takeField(draft, stored, field);
  }
}

/** Restores one field to its stored value, absence included. */
export function takeField(draft: Draft, stored: Draft, field: string): void {
  const kept = ownValue(stored, field);
  if (kept === undefined) delete draft[field];
  else setOwn(draft, field, kept);
}
