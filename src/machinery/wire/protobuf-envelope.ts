import type { KubeObject, ListMeta, Status } from '../api/meta.ts';
import { resources } from '../api/resources.ts';
import type { ObjectEventType, UndecodableObject, WatchEvent } from '../ports/kube-reader.ts';
import { readListMeta, readStatus } from './protobuf-meta.ts';
import { ProtobufObjects, type ProtobufResource } from './protobuf-objects.ts';
import { MalformedProtobufError, ProtobufReader } from './protobuf-reader.ts';

/** `k8s` and a zero byte: the prefix of every body and of every object in a watch. */
export const magic = Buffer.from('k8s\0', 'latin1');

const objectEventTypes: readonly ObjectEventType[] = ['MODIFIED', 'ADDED', 'DELETED'];

/**
 * Reads the envelope of objects: `k8s\0`, then a `runtime.Unknown` with the kind and the object's own bytes; in a watch
 * all of that inside a `metav1.WatchEvent`. One instance per connection: it interns strings.
 */
export class ProtobufEnvelope {
  readonly #reader = new ProtobufReader();
  readonly #objects = new ProtobufObjects(this.#reader);
  // State of the event being decoded. Fields, because up to a hundred thousand events per second arrive.
  #type = '';
  #objectFrom = -1;
  #objectTo = -1;

  /** A whole body. Throws a MalformedProtobufError. */
  readObject(resource: ProtobufResource, body: Buffer): KubeObject {
    this.#reader.begin(body, 0, body.length);
    const end = this.#open(body.length, resources[resource].kind);
    return this.#objects.read(resource, end);
  }

  /** A whole body. Throws a MalformedProtobufError. */
  readStatus(body: Buffer): Status {
    this.#reader.begin(body, 0, body.length);
    return readStatus(this.#reader, this.#open(body.length, 'Status'));
  }

  /** A list item, without its own envelope. Throws a MalformedProtobufError. */
  readItem(resource: ProtobufResource, bytes: Buffer, from: number, to: number): KubeObject {
    this.#reader.begin(bytes, from, to);
    return this.#objects.read(resource, to);
  }

  /** The metadata of an object without an envelope that could not be decoded, and the error. */
  describeUndecodable(error: Error, bytes: Buffer, from: number, to: number): UndecodableObject {
    this.#reader.begin(bytes, from, to);
    return { metadata: this.#objects.readMetadata(to), problem: error.message };
  }

  /** Throws a MalformedProtobufError. */
  readListMeta(bytes: Buffer, from: number, to: number): ListMeta {
    this.#reader.begin(bytes, from, to);
    return readListMeta(this.#reader, to);
  }

  /** Checks that this is a `runtime.TypeMeta` of this kind. Throws a MalformedProtobufError otherwise. */
  assertKind(bytes: Buffer, from: number, to: number, kind: string): void {
    this.#reader.begin(bytes, from, to);
    this.#readKind(kind, to);
  }

  /**
   * One frame of a watch, without its length. An undecodable event becomes an UNDECODABLE event. Throws a
   * MalformedProtobufError for an undecodable ERROR event, with which the server ends the watch.
   */
  readEvent(resource: ProtobufResource, bytes: Buffer, from: number, to: number): WatchEvent {
    this.#reader.begin(bytes, from, to);
    this.#type = '';
    this.#objectFrom = -1;
    try {
      this.#reader.at = this.#findObject(to);
      return this.#eventOf(resource, this.#type);
    } catch (error) {
      if (!(error instanceof MalformedProtobufError) || this.#type === 'ERROR') throw error;
      return this.#undecodable(error, bytes);
    }
  }

  #undecodable(error: Error, bytes: Buffer): WatchEvent {
    const change = objectEventTypes.find((name) => name === this.#type);
    const known = change !== undefined && this.#objectFrom >= 0;
    const object = known
      ? this.describeUndecodable(error, bytes, this.#objectFrom, this.#objectTo)
      : { metadata: undefined, problem: error.message };
    return { type: 'UNDECODABLE', change, object };
  }

  /** Stores the type of the event that ends at `to` and returns the start of its object. */
  #findObject(to: number): number {
    const reader = this.#reader;
    let objectAt = -1;
    while (reader.at < to) {
      const tag = reader.tag();
      if (tag === 0x0a) this.#type = reader.text();
      else {
        if (tag === 0x12) objectAt = reader.at;
        reader.skip(tag);
      }
    }
    reader.exit(to);
    if (objectAt < 0) throw new MalformedProtobufError('an event without an object');
    return objectAt;
  }

  #eventOf(resource: ProtobufResource, type: string): WatchEvent {
    const outer = this.#reader.enter();
    const raw = this.#rawExtension(outer);
    const { kind } = resources[resource];
    const known = objectEventTypes.find((name) => name === type);
    if (known !== undefined) {
      this.#objectTo = this.#open(raw, kind);
      this.#objectFrom = this.#reader.at;
      return { type: known, object: this.#objects.read(resource, this.#objectTo) };
    }
    if (type === 'BOOKMARK') return { type, object: this.#objects.readBookmark(this.#open(raw, kind)) };
    if (type === 'ERROR') return { type, object: readStatus(this.#reader, this.#open(raw, 'Status')) };
    throw new MalformedProtobufError(`an event of the unknown type "${type}"`);
  }

  /** `RawExtension{raw = 1}`: returns the end of its bytes; the source is at their start. */
  #rawExtension(end: number): number {
    const reader = this.#reader;
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) return reader.enter();
      reader.skip(tag);
    }
    throw new MalformedProtobufError('an event without an object');
  }

  /** Enters an envelope that ends at `end`: returns the end of its object; the source is at the object's start. */
  #open(end: number, kind: string): number {
    const reader = this.#reader;
    this.#readMagic();
    let named = false;
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x0a) named = this.#readKind(kind, reader.enter());
      else if (tag === 0x12 && named) return reader.enter();
      else reader.skip(tag);
    }
    throw new MalformedProtobufError(`an envelope without a ${kind}`);
  }

  #readMagic(): void {
    const reader = this.#reader;
    for (const byte of magic) {
      if (reader.bytes[reader.at] !== byte) throw new MalformedProtobufError('not the protobuf form of Kubernetes');
      reader.at += 1;
    }
  }

  #readKind(kind: string, end: number): true {
    const reader = this.#reader;
    let named = false;
    while (reader.at < end) {
      const tag = reader.tag();
      if (tag === 0x12) named = reader.textIs(kind);
      else reader.skip(tag);
    }
    reader.exit(end);
    if (!named) throw new MalformedProtobufError(`an object of another kind than ${kind}`);
    return true;
  }
}
