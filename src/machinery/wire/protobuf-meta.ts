import { listLimits, namedBeyondMax } from '../api/limits.ts';
import { nodeAnnotations } from '../api/node.ts';
import type { ListMeta, ObjectMeta, Status, StatusCause } from '../api/meta.ts';
import { nodeLabels } from '../api/topology.ts';
import { PartInterner } from './string-interner.ts';
import type { ProtobufReader } from './protobuf-reader.ts';

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };
type Map = Readonly<Record<string, string>>;
/** The fields that are always present while decoding. */
interface Decoded {
  labels: Map;
  creationTimestamp: string;
}

const shapesMax = 16;
const none: Map = Object.freeze({});

/** The tags of `ObjectMeta` that are decoded; the others, managedFields above all, are skipped. */
const metaTags = { name: 0x0a, uid: 0x2a, labels: 0x5a, annotations: 0x62 } as const;

/** Decodes the used fields of `ObjectMeta`. Objects with equal labels share one label map. */
export class ProtobufMeta {
  readonly #labels = new PartInterner<Map>();
  readonly #shapes = new MapShapes();
  readonly #source: ProtobufReader;

  constructor(reader: ProtobufReader) {
    this.#source = reader;
  }

  /**
   * `many`: label maps are shared, and names are not interned: those of a million pods would evict all other strings from
   * the cache.
   */
  read(sharing: 'few' | 'many'): ObjectMeta {
    const reader = this.#source;
    const meta: Mutable<ObjectMeta> & Decoded = {
      name: '',
      namespace: '',
      uid: '',
      resourceVersion: '',
      labels: none,
      creationTimestamp: '',
    };
    const end = reader.enter();
    while (reader.at < end) {
      const from = reader.at;
      const tag = reader.tag();
      if (tag === metaTags.labels)
        meta.labels = joined(meta.labels, this.#readLabels(from, reader.skipRun(tag, end), sharing));
      else if (tag === metaTags.name) meta.name = nameOf(reader, sharing);
      else if (tag === metaTags.uid) meta.uid = nameOf(reader, sharing);
      else if (tag === metaTags.annotations && sharing === 'few') this.#annotation(meta);
      else this.#field(meta, tag);
    }
    reader.exit(end);
    return meta.creationTimestamp === '' ? withoutCreation(meta) : meta;
  }

  /** Decodes one annotation, if it is one of a node that the controller reads. */
  #annotation(meta: Mutable<ObjectMeta>): void {
    const reader = this.#source;
    let key: string | undefined;
    let value = '';
    reader.message((tag) => {
      if (tag === 0x0a) key = reader.textIn(nodeAnnotations);
      else if (tag === 0x12 && key !== undefined) value = reader.freshText();
      else reader.skip(tag);
    });
    if (key !== undefined) meta.annotations = { ...meta.annotations, [key]: value };
  }

  /** The metadata of a bookmark: its annotations mark the end of the initial events. */
  readBookmark(): ObjectMeta {
    const reader = this.#source;
    const meta: Mutable<ObjectMeta> = {};
    const end = reader.enter();
    while (reader.at < end) {
      const from = reader.at;
      const tag = reader.tag();
      if (tag === 0x32) meta.resourceVersion = reader.freshText();
      else if (tag === metaTags.annotations)
        meta.annotations = joined(meta.annotations ?? none, this.#map(from, reader.skipRun(tag, end)));
      else reader.skip(tag);
    }
    reader.exit(end);
    return meta;
  }

  #field(meta: Mutable<ObjectMeta>, tag: number): void {
    const reader = this.#source;
    switch (tag) {
      case 0x1a:
        meta.namespace = reader.text();
        break;
      case 0x32:
        meta.resourceVersion = reader.freshText();
        break;
      case 0x42:
        meta.creationTimestamp = reader.time() ?? '';
        break;
      default:
        this.#rareField(meta, tag);
    }
  }

  /** Zero values that JSON omits are omitted here too. */
  #rareField(meta: Mutable<ObjectMeta>, tag: number): void {
    const reader = this.#source;
    if (tag === 0x38) setUnlessZero(meta, reader.int64());
    else if (tag === 0x4a) setDeletion(meta, reader.time());
    else if (tag === 0x50) meta.deletionGracePeriodSeconds = reader.int64();
    else reader.skip(tag);
  }

  #readLabels(from: number, to: number, sharing: 'few' | 'many'): Map {
    const reader = this.#source;
    if (sharing === 'few') return this.#map(from, to);
    const known = this.#labels.get(reader, from, to);
    if (known !== undefined) return known;
    const map = this.#map(from, to);
    this.#labels.set(reader, from, to, map);
    return map;
  }

  /** The entries between `from` and `to`, all of the map field; of a map that is longer than is used one more than the limit. */
  #map(from: number, to: number): Map {
    const reader = this.#source;
    const keys: string[] = [];
    const values: string[] = [];
    reader.at = from;
    while (reader.at < to) {
      reader.tag();
      if (isUsed(keys.length, reader)) this.#entry(keys, values);
      else reader.at = reader.enter();
    }
    return this.#shapes.mapOf(keys, values);
  }

  #entry(keys: string[], values: string[]): void {
    const reader = this.#source;
    let key = '';
    let value = '';
    const end = reader.enter();
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) key = reader.text();
      else if (tag === 0x12) value = reader.text();
      else reader.skip(tag);
    }
    reader.exit(end);
    keys.push(key);
    values.push(value);
  }
}

/**
 * Creates maps with string values. An object that is filled key by key takes several times the memory of a copy of an
 * object with the same keys, so a template is kept for each of the last key lists.
 */
class MapShapes {
  readonly #shapes: { readonly keys: readonly string[]; readonly sample: Map }[] = [];
  #oldest = 0;

  mapOf(keys: readonly string[], values: readonly string[]): Map {
    const { sample } = this.#shapes.find((shape) => sameStrings(shape.keys, keys)) ?? this.#add(keys);
    const map: Record<string, string> = { ...sample };
    for (let index = 0; index < keys.length; index += 1) map[keys[index] ?? ''] = values[index] ?? '';
    return map;
  }

  #add(keys: readonly string[]): { readonly keys: readonly string[]; readonly sample: Map } {
    const sample: Map = JSON.parse(JSON.stringify(Object.fromEntries(keys.map((key) => [key, '']))));
    const shape = { keys, sample };
    this.#shapes[this.#oldest] = shape;
    this.#oldest = (this.#oldest + 1) % shapesMax;
    return shape;
  }
}

function isUsed(before: number, reader: ProtobufReader): boolean {
  return before <= listLimits.labels || (before <= listLimits.labels + namedBeyondMax && reader.startsWith(nodeLabels));
}

function sameStrings(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function nameOf(reader: ProtobufReader, sharing: 'few' | 'many'): string {
  return sharing === 'many' ? reader.freshText() : reader.nameText();
}

function setUnlessZero(meta: Mutable<ObjectMeta>, generation: number): void {
  if (generation !== 0) meta.generation = generation;
}

function setDeletion(meta: Mutable<ObjectMeta>, time: string | null): void {
  if (time !== null) meta.deletionTimestamp = time;
}

function withoutCreation({ creationTimestamp: _none, ...meta }: ObjectMeta): ObjectMeta {
  return meta;
}

/** Entries in two runs are rare, and no more are joined than are used. */
function joined(before: Map, more: Map): Map {
  if (before === none) return more;
  return Object.keys(before).length > listLimits.labels ? before : { ...before, ...more };
}

/** `ListMeta`, from the current position to `end`. */
export function readListMeta(reader: ProtobufReader, end: number): ListMeta {
  const meta: Mutable<ListMeta> = {};
  reader.message((tag) => {
    if (tag === 0x12) meta.resourceVersion = reader.freshText();
    else if (tag === 0x1a) meta.continue = reader.freshText();
    else if (tag === 0x20) meta.remainingItemCount = reader.int64();
    else reader.skip(tag);
  }, end);
  return meta;
}

/** `Status`, from the current position to `end`. It needs no cache. */
export function readStatus(reader: ProtobufReader, end: number): Status {
  const status: Mutable<Status> = { kind: 'Status' };
  reader.message((tag) => {
    if (tag === 0x12) status.status = reader.freshText() === 'Success' ? 'Success' : 'Failure';
    else if (tag === 0x1a) status.message = reader.freshText();
    else if (tag === 0x22) setReason(status, reader.freshText());
    else if (tag === 0x2a) status.details = readDetails(reader);
    else if (tag === 0x30) status.code = reader.int64();
    else reader.skip(tag);
  }, end);
  return status;
}

/** An empty reason is omitted: the code then decides. */
function setReason(status: Mutable<Status>, reason: string): void {
  if (reason !== '') status.reason = reason;
}

type Details = NonNullable<Status['details']>;

function readDetails(reader: ProtobufReader): Details {
  const details: Mutable<Details> = {};
  const causes: StatusCause[] = [];
  reader.message((tag) => {
    if (tag === 0x22) causes.push(readCause(reader));
    else if (tag === 0x28) setRetryAfter(details, reader.int64());
    else readDetailText(reader, tag, details);
  });
  return causes.length === 0 ? details : { ...details, causes };
}

function setRetryAfter(details: Mutable<Details>, seconds: number): void {
  if (seconds !== 0) details.retryAfterSeconds = seconds;
}

const detailNames: Readonly<Record<number, 'name' | 'group' | 'kind' | 'uid'>> = {
  0x0a: 'name',
  0x12: 'group',
  0x1a: 'kind',
  0x32: 'uid',
};

function readDetailText(reader: ProtobufReader, tag: number, details: Mutable<Details>): void {
  const name = detailNames[tag];
  if (name === undefined) reader.skip(tag);
  else {
    const text = reader.freshText();
    if (text !== '') details[name] = text;
  }
}

const causeNames: Readonly<Record<number, keyof StatusCause>> = { 0x0a: 'reason', 0x12: 'message', 0x1a: 'field' };

function readCause(reader: ProtobufReader): StatusCause {
  const cause: Mutable<StatusCause> = {};
  reader.message((tag) => {
    const name = causeNames[tag];
    if (name === undefined) reader.skip(tag);
    else cause[name] = reader.freshText();
  });
  return cause;
}
