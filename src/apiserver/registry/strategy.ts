import type { Draft } from '../storage/stored-object.ts';
import type { FieldError } from './refusals.ts';
import type { FieldLabels } from './selection.ts';

export type Endpoint = '' | 'status' | 'finalize';

/** What one resource does differently (upstream: the strategies in `pkg/registry`). */
export interface Strategy {
  readonly kind: string;
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly fieldLabels: FieldLabels;
  /** For groups through which it is selected in other words. */
  readonly fieldLabelsByGroup?: Readonly<Record<string, FieldLabels>>;
  /** A PUT of what does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** A PUT without resourceVersion is refused. */
  readonly needsVersion: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** Deletion waits for a grace period (pods). */
  readonly graceful: boolean;
  readonly isName: (name: string) => boolean;
  /** Fills in what the client left out; on every write, after decoding. */
  setDefaults(draft: Draft): void;
  prepareCreate(draft: Draft): void;
  /** Undoes what this endpoint must not change and counts the generation. */
  prepareUpdate(draft: Draft, stored: Draft, endpoint: Endpoint): void;
  /** On every write. Like the two below it hears through which group the client speaks. */
  validate(draft: Draft, group: string): readonly FieldError[];
  validateCreate(draft: Draft, group: string): readonly FieldError[];
  validateUpdate(draft: Draft, stored: Draft, endpoint: Endpoint, group: string): readonly FieldError[];
  /** Values of the field labels beyond metadata. */
  fieldsOf(draft: Draft): Readonly<Record<string, string>>;
}

/** What most kinds do: nothing special. */
export const plainStrategy = {
  createsOnUpdate: false,
  needsVersion: false,
  returnsDeleted: false,
  graceful: false,
  setDefaults: () => {},
  prepareCreate: () => {},
  prepareUpdate: () => {},
  validate: () => [],
  validateCreate: () => [],
  validateUpdate: () => [],
  fieldsOf: () => ({}),
} as const;

/** The main endpoint leaves the status alone, `/status` leaves everything else but metadata alone. */
export function isolateStatus(draft: Draft, stored: Draft, endpoint: Endpoint): void {
  if (endpoint === 'status') takeAllButStatus(draft, stored);
  else takeField(draft, stored, 'status');
}

function takeAllButStatus(draft: Draft, stored: Draft): void {
  for (const field of new Set([...Object.keys(draft), ...Object.keys(stored)])) {
    if (!['metadata', 'status', 'kind', 'apiVersion'].includes(field)) takeField(draft, stored, field);
  }
}

/** Restores one field to what is stored, absence included. */
export function takeField(draft: Draft, stored: Draft, field: string): void {
  if (stored[field] === undefined) delete draft[field];
  else draft[field] = stored[field];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A string somewhere below an object; empty where it is missing. */
export function textAt(object: unknown, ...path: readonly string[]): string {
  let value: unknown = object;
  for (const field of path) value = isRecord(value) ? value[field] : undefined;
  return textOf(value);
}

/** The objects of a list that may be missing. */
export function mapsOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
