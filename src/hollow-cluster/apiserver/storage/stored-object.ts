/**
 * One version of one object as the store keeps it, in one form at a time: as the value that was written, until its JSON
 * bytes are needed; then as the bytes, encoded once and shared by every list and watch. They are parsed again only for a
 * change of the object. A client in the same process needs no bytes.
 */
import { parseExactJson, stringifyExact } from '../codec/parse-exact-json.ts';
import { copyJson } from '../../../machinery/api/json-values.ts';
import type { KubeObject } from '../../../machinery/api/meta.ts';
import type { ObjectKey } from '../../../machinery/api/object-key.ts';
import { encodeShared } from '../managed-fields/shared-field-sets.ts';
import {
  encodeManagers,
  type ManagerEntry,
  managersAsFields,
  managersAsJson,
} from '../managed-fields/manager-entry.ts';
import { isMap, type MutableJsonMap } from '../../../machinery/api/select-field.ts';

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

/** Where an object is, and the values that selectors need. */
interface Located {
  readonly key: ObjectKey;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The values that field selectors match, by field label, as in `spec.nodeName`. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface ObjectType {
  readonly kind: string;
  readonly apiVersion: string;
}

/** The JSON of an object after the opening brace; more fields of the metadata can be inserted at `metadataEnd`. */
interface Encoded {
  readonly bytes: Buffer;
  readonly metadataEnd: number;
}

export class StoredObject implements Located {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** Who owns which fields: `metadata.managedFields`, which content and drafts do not have. */
  readonly managers: readonly ManagerEntry[];
  #content: Draft | undefined;
  #bytes: Encoded | undefined;
  #typed: KubeObject | undefined;

  /** Takes ownership of the draft, whose `metadata.resourceVersion` must already equal `revision`. */
  constructor(located: Located, draft: Draft, managers: readonly ManagerEntry[] = []) {
    this.key = located.key;
    this.namespace = located.namespace;
    this.name = located.name;
    this.uid = located.uid;
    this.revision = located.revision;
    this.labels = located.labels;
    this.fields = located.fields;
    this.managers = managers;
    const { kind: _kind, apiVersion: _apiVersion, ...content } = draft;
    this.#content = content;
  }

  /**
   * JSON of the object after the opening brace, in parts, without kind and apiVersion: lists omit those, other
   * responses prepend them.
   */
  get tail(): readonly Buffer[] {
    const { bytes, metadataEnd } = this.#encoded();
    if (this.managers.length === 0) return [bytes];
    return [bytes.subarray(0, metadataEnd), managersOf(this), bytes.subarray(metadataEnd)];
  }

  /** Bytes of the tail. */
  get tailLength(): number {
    const { length } = this.#encoded().bytes;
    return this.managers.length === 0 ? length : length + managersOf(this).length;
  }

  /** Encoding without managedFields: their texts are shared between objects, and are not kept for each. */
  #encoded(): Encoded {
    if (this.#bytes === undefined) {
      const { metadata, ...rest } = this.content;
      const head = stringifyExact({ metadata }).slice('{'.length, -'}}'.length);
      const others = stringifyExact(rest).slice('{'.length);
      const text = `${head}}${others === '}' ? '' : ','}${others}`;
      this.#bytes = { bytes: ownBytes(text), metadataEnd: Buffer.byteLength(head) };
      this.#content = undefined;
    }
    return this.#bytes;
  }

  /** The object without kind and apiVersion. Shared with other versions of it: not to be changed. */
  get content(): Draft {
    return this.#content ?? this.#parse();
  }

  /** Another version with the same content. */
  at(revision: number): StoredObject {
    const { key, namespace, name, uid, labels, fields } = this;
    const { metadata, ...rest } = this.content;
    const located = { key, namespace, name, uid, revision, labels, fields };
    const moved = { metadata: { ...metadata, resourceVersion: String(revision) }, ...rest };
    return new StoredObject(located, moved, this.managers);
  }

  /** A private copy, without kind and apiVersion. */
  draft(): Draft {
    return this.#content === undefined ? this.#parse() : copyJson(this.#content);
  }

  /** Object as a client in the same process receives it. Shared: not to be changed. */
  typed({ kind, apiVersion }: ObjectType): KubeObject {
    if (this.#typed?.kind !== kind || this.#typed.apiVersion !== apiVersion) {
      const object: unknown = { kind, apiVersion, ...this.content };
      if (!isKubeObject(object)) throw this.#invalid();
      this.#typed = object;
    }
    return this.#typed;
  }

  /** A private copy with `metadata.managedFields`, as a client receives it. */
  presented(): Draft {
    const draft = this.draft();
    if (this.managers.length > 0) draft.metadata['managedFields'] = managersAsJson(this.managers, encodeShared);
    return draft;
  }

  /** The object with `metadata.managedFields`, whose FieldsV1 are JSON texts. Shared: not to be changed. */
  encodable(): Draft {
    const { content } = this;
    if (this.managers.length === 0) return content;
    return {
      ...content,
      metadata: { ...content.metadata, managedFields: managersAsFields(this.managers, encodeShared) },
    };
  }

  #parse(): Draft {
    const parsed = parseExactJson(`{${this.#encoded().bytes.toString()}`);
    if (isDraft(parsed)) return parsed;
    throw this.#invalid();
  }

  #invalid(): Error {
    return new Error(`what is stored of ${this.key} is not an object with metadata`);
  }
}

/** Not from the pool of Node.js: a stored object would keep the block that it shares with responses long gone. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

interface EncodedManagers {
  readonly managers: readonly ManagerEntry[];
  readonly bytes: Buffer;
}

/**
 * The managers encoded last: after a write they are needed for the response and, a little later, for watch events. A ring and
 * not a Map: each table that a Map outgrows keeps its entries until the next full garbage collection, which they hasten.
 */
const encodedManagers: EncodedManagers[] = [];
const encodedManagersMax = 16;
let nextEncoded = 0;

function managersOf({ managers }: StoredObject): Buffer {
  const known = encodedManagers.find((encoded) => encoded.managers === managers);
  if (known !== undefined) return known.bytes;
  const bytes = Buffer.from(`,"managedFields":${encodeManagers(managers, encodeShared)}`);
  encodedManagers[nextEncoded] = { managers, bytes };
  nextEncoded = (nextEncoded + 1) % encodedManagersMax;
  return bytes;
}

export function isDraft(value: unknown): value is Draft {
  return isMap(value) && isMap(value['metadata']);
}

function isKubeObject(value: unknown): value is KubeObject {
  return isDraft(value);
}
