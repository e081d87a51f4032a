import type { ListMeta, ObjectMeta, Status, StatusCause } from '../api/meta.ts';
import { PartCache } from './text-cache.ts';
import type { ProtobufSource } from './protobuf-source.ts';

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };
type Map = Readonly<Record<string, string>>;

const shapesMax = 16;
const none: Map = Object.freeze({});

/** The tags of `ObjectMeta` that are read; the others, managed fields above all, are skipped. */
const metaTags = { name: 0x0a, uid: 0x2a, labels: 0x5a, annotations: 0x62 } as const;

/** Reads `ObjectMeta` as far as somebody asks for it. Objects with the same labels get the same map of them. */
export class ProtobufMeta {
  readonly #labels = new PartCache<Map>();
  readonly #shapes = new MapShapes();
  readonly #source: ProtobufSource;

  constructor(source: ProtobufSource) {
    this.#source = source;
  }

  /**
   * Where there are many objects of a kind, one map is kept of labels that some have in common, and names are not looked
   * for among the texts that were read before: those of a million pods would drive out all others.
   */
  read(crowd: 'few' | 'many'): ObjectMeta {
    const source = this.#source;
    const meta = { name: '', namespace: '', uid: '', resourceVersion: '', labels: none, creationTimestamp: '' };
    const end = source.enter();
    while (source.at < end) {
      const from = source.at;
      const tag = source.tag();
      if (tag === metaTags.labels)
        meta.labels = joined(meta.labels, this.#readLabels(from, source.skipRun(tag, end), crowd));
      else if (tag === metaTags.name) meta.name = nameOf(source, crowd);
      else if (tag === metaTags.uid) meta.uid = nameOf(source, crowd);
      else this.#field(meta, tag);
    }
    source.leave(end);
    return meta.creationTimestamp === '' ? withoutCreation(meta) : meta;
  }

  /** As a bookmark has it: it is the annotations that tell what a bookmark is for. */
  readBookmark(): ObjectMeta {
    const source = this.#source;
    const meta: Mutable<ObjectMeta> = {};
    const end = source.enter();
    while (source.at < end) {
      const from = source.at;
      const tag = source.tag();
      if (tag === 0x32) meta.resourceVersion = source.freshText();
      else if (tag === metaTags.annotations)
        meta.annotations = joined(meta.annotations ?? none, this.#map(from, source.skipRun(tag, end)));
      else source.skip(tag);
    }
    source.leave(end);
    return meta;
  }

  #field(meta: Mutable<ObjectMeta>, tag: number): void {
    const source = this.#source;
    switch (tag) {
      case 0x1a:
        meta.namespace = source.text();
        break;
      case 0x32:
        meta.resourceVersion = source.freshText();
        break;
      case 0x42:
        meta.creationTimestamp = source.time() ?? '';
        break;
      default:
        this.#rareField(meta, tag);
    }
  }

  /** What JSON leaves out when it is zero is left out here too. */
  #rareField(meta: Mutable<ObjectMeta>, tag: number): void {
    const source = this.#source;
    if (tag === 0x38) setUnlessZero(meta, source.int64());
    else if (tag === 0x4a) setDeletion(meta, source.time());
    else if (tag === 0x50) meta.deletionGracePeriodSeconds = source.int64();
    else source.skip(tag);
  }

  #readLabels(from: number, to: number, crowd: 'few' | 'many'): Map {
    const source = this.#source;
    if (crowd === 'few') return this.#map(from, to);
    const known = this.#labels.get(source, from, to);
    if (known !== undefined) return known;
    const map = this.#map(from, to);
    this.#labels.set(source, from, to, map);
    return map;
  }

  /** The entries between here and there, and nothing else. */
  #map(from: number, to: number): Map {
    const source = this.#source;
    const keys: string[] = [];
    const values: string[] = [];
    source.at = from;
    while (source.at < to) {
      source.tag();
      this.#entry(keys, values);
    }
    return this.#shapes.mapOf(keys, values);
  }

  #entry(keys: string[], values: string[]): void {
    const source = this.#source;
    let key = '';
    let value = '';
    const end = source.enter();
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) key = source.text();
      else if (tag === 0x12) value = source.text();
      else source.skip(tag);
    }
    source.leave(end);
    keys.push(key);
    values.push(value);
  }
}

/**
 * Makes maps of names to texts. An object that is filled name by name takes several times the memory of one that is a
 * copy of another with the same names, so for the last few lists of names there is one to copy.
 */
class MapShapes {
  readonly #shapes: { readonly keys: readonly string[]; readonly sample: Map }[] = [];
  #oldest = 0;

  mapOf(keys: readonly string[], values: readonly string[]): Map {
    const { sample } = this.#shapes.find((shape) => sameTexts(shape.keys, keys)) ?? this.#add(keys);
    const map: Record<string, string> = { ...sample };
    for (let place = 0; place < keys.length; place += 1) map[keys[place] ?? ''] = values[place] ?? '';
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

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, place) => text === b[place]);
}

function nameOf(source: ProtobufSource, crowd: 'few' | 'many'): string {
  return crowd === 'many' ? source.freshText() : source.nameText();
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

function joined(before: Map, more: Map): Map {
  return before === none ? more : { ...before, ...more };
}

/** `ListMeta`, from here to `end`. */
export function readListMeta(source: ProtobufSource, end: number): ListMeta {
  const meta: Mutable<ListMeta> = {};
  while (source.at < end) {
    const tag = source.tag();
    if (tag === 0x12) meta.resourceVersion = source.freshText();
    else if (tag === 0x1a) meta.continue = source.freshText();
    else if (tag === 0x20) meta.remainingItemCount = source.int64();
    else source.skip(tag);
  }
  source.leave(end);
  return meta;
}

/** `Status`, from here to `end`: what the server says when something failed. */
export function readStatus(source: ProtobufSource, end: number): Status {
  const status: Mutable<Status> = { kind: 'Status' };
  while (source.at < end) {
    const tag = source.tag();
    if (tag === 0x12) status.status = source.text() === 'Success' ? 'Success' : 'Failure';
    else if (tag === 0x1a) status.message = source.freshText();
    else if (tag === 0x22) setReason(status, source.text());
    else if (tag === 0x2a) status.details = readDetails(source);
    else if (tag === 0x30) status.code = source.int64();
    else source.skip(tag);
  }
  source.leave(end);
  return status;
}

/** An empty one is none: then the code says what happened. */
function setReason(status: Mutable<Status>, reason: string): void {
  if (reason !== '') status.reason = reason;
}

type Details = NonNullable<Status['details']>;

function readDetails(source: ProtobufSource): Details {
  const details: Mutable<Details> = {};
  const causes: StatusCause[] = [];
  const end = source.enter();
  while (source.at < end) {
    const tag = source.tag();
    if (tag === 0x22) causes.push(readCause(source));
    else if (tag === 0x28) setRetryAfter(details, source.int64());
    else readDetailText(source, tag, details);
  }
  source.leave(end);
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

function readDetailText(source: ProtobufSource, tag: number, details: Mutable<Details>): void {
  const name = detailNames[tag];
  if (name === undefined) source.skip(tag);
  else {
    const text = source.text();
    if (text !== '') details[name] = text;
  }
}

const causeNames: Readonly<Record<number, keyof StatusCause>> = { 0x0a: 'reason', 0x12: 'message', 0x1a: 'field' };

function readCause(source: ProtobufSource): StatusCause {
  const cause: Mutable<StatusCause> = {};
  const end = source.enter();
  while (source.at < end) {
    const tag = source.tag();
    const name = causeNames[tag];
    if (name === undefined) source.skip(tag);
    else cause[name] = source.text();
  }
  source.leave(end);
  return cause;
}
