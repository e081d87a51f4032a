/**
 * One version of one object, as the store keeps it: its JSON once, as bytes that every list and every watcher shares, and
 * beside it the few words by which it is found. The tree is parsed again only by whoever wants to change it.
 */
import type { ObjectKey } from '../../api/object-key.ts';

export type JsonMap = Record<string, unknown>;

/** `metadata` while a write is being prepared; what arrived unknown stays. */
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
  ownerReferences?: JsonMap[];
  [field: string]: unknown;
}

/** An object while a write is being prepared. Never shared: whoever holds one may change it. */
export interface Draft {
  kind?: string;
  apiVersion?: string;
  metadata: DraftMeta;
  spec?: JsonMap;
  status?: JsonMap;
  [field: string]: unknown;
}

/** What selectors look at. */
export interface Selectable {
  readonly labels: Readonly<Record<string, string>>;
  /** By field label, as in `spec.nodeName`. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface StoredObject extends Selectable {
  readonly key: ObjectKey;
  /** Empty for what has no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  /** Its JSON after the opening brace, without kind and apiVersion: lists leave those out, everything else prepends them. */
  readonly tail: Buffer;
}

const openingBrace = '{'.length;

/** Encodes a version for the store. `metadata.resourceVersion` must already be that of `revision`. */
export function encodeTail(draft: Draft): Buffer {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = draft;
  return Buffer.from(JSON.stringify({ metadata, ...rest }).slice(openingBrace));
}

/** A private copy of a stored version, without kind and apiVersion. */
export function decodeDraft(stored: StoredObject): Draft {
  const parsed: unknown = JSON.parse(`{${stored.tail.toString()}`);
  if (!isDraft(parsed)) throw new Error(`the stored bytes of ${stored.key} are no object with metadata`);
  return parsed;
}

export function isDraft(value: unknown): value is Draft {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !('metadata' in value)) return false;
  return typeof value.metadata === 'object' && value.metadata !== null && !Array.isArray(value.metadata);
}
