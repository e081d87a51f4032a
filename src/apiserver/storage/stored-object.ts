/**
 * One version of one object as the store keeps it: its JSON bytes, encoded once and shared by every list and watch, and
 * the values that selectors need. The JSON is parsed again only for a change of the object.
 */
import type { ObjectKey } from '../../api/object-key.ts';
import { isMap, type MutableJsonMap } from '../select-field.ts';

/** `metadata` while a write is being prepared; unknown fields are kept. */
export interface DraftMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: MutableJsonMap[];
  [field: string]: unknown;
}

/** An object while a write is being prepared. Never shared: its owner may change it. */
export interface Draft {
  kind?: string;
  apiVersion?: string;
  metadata: DraftMeta;
  spec?: MutableJsonMap;
  status?: MutableJsonMap;
  [field: string]: unknown;
}

export interface StoredObject {
  readonly key: ObjectKey;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The values that field selectors match, by field label, as in `spec.nodeName`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Its JSON after the opening brace, without kind and apiVersion: lists omit those, other responses prepend them. */
  readonly tail: Buffer;
}

/** Encodes a version for the store. `metadata.resourceVersion` must already equal `revision`. */
export function encodeTail(draft: Draft): Buffer {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = draft;
  return Buffer.from(JSON.stringify({ metadata, ...rest }).slice('{'.length));
}

/** A private copy of a stored version, without kind and apiVersion. */
export function decodeDraft(stored: StoredObject): Draft {
  const parsed: unknown = JSON.parse(`{${stored.tail.toString()}`);
  if (isDraft(parsed)) return parsed;
  throw new Error(`the stored bytes of ${stored.key} are not an object with metadata`);
}

export function isDraft(value: unknown): value is Draft {
  return isMap(value) && isMap(value['metadata']);
}
