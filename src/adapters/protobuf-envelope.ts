import type { KubeObject, ListMeta, Status } from '../api/meta.ts';
import { resources } from '../api/resources.ts';
import type { WatchEvent } from '../ports/kube-reader.ts';
import { readListMeta, readStatus } from './protobuf-meta.ts';
import { ProtobufObjects, type ProtobufResource } from './protobuf-objects.ts';
import { MalformedProtobufError, ProtobufSource } from './protobuf-source.ts';

/** `k8s` and a zero byte: what every body and every object in a watch begins with. */
export const magic = Buffer.from('k8s\0', 'latin1');

type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';
const objectEventTypes: readonly ObjectEventType[] = ['MODIFIED', 'ADDED', 'DELETED'];

/**
 * Reads what stands around the objects: `k8s\0`, then a `runtime.Unknown` with the kind and the object's own bytes; in a
 * watch all that again inside of a `metav1.WatchEvent`. One for all answers of a connection: it remembers texts.
 */
export class ProtobufEnvelope {
  readonly #source = new ProtobufSource();
  readonly #objects = new ProtobufObjects(this.#source);

  /** A whole body. Throws a MalformedProtobufError. */
  readObject(resource: ProtobufResource, body: Buffer): KubeObject {
    this.#source.begin(body, 0, body.length);
    const end = this.#open(body.length, resources[resource].kind);
    return this.#objects.read(resource, end);
  }

  /** A whole body. Throws a MalformedProtobufError. */
  readStatus(body: Buffer): Status {
    this.#source.begin(body, 0, body.length);
    return readStatus(this.#source, this.#open(body.length, 'Status'));
  }

  /** An item of a list, without an envelope of its own. Throws a MalformedProtobufError. */
  readItem(resource: ProtobufResource, bytes: Buffer, from: number, to: number): KubeObject {
    this.#source.begin(bytes, from, to);
    return this.#objects.read(resource, to);
  }

  /** Throws a MalformedProtobufError. */
  readListMeta(bytes: Buffer, from: number, to: number): ListMeta {
    this.#source.begin(bytes, from, to);
    return readListMeta(this.#source, to);
  }

  /** Is this `runtime.TypeMeta` of this kind? Throws a MalformedProtobufError where it is not. */
  assertKind(bytes: Buffer, from: number, to: number, kind: string): void {
    this.#source.begin(bytes, from, to);
    this.#readKind(kind, to);
  }

  /** One frame of a watch, without its length. Throws a MalformedProtobufError. */
  readEvent(resource: ProtobufResource, bytes: Buffer, from: number, to: number): WatchEvent {
    const source = this.#source;
    source.begin(bytes, from, to);
    let type = '';
    let objectAt = -1;
    while (source.at < to) {
      const tag = source.tag();
      if (tag === 0x0a) type = source.text();
      else {
        if (tag === 0x12) objectAt = source.at;
        source.skip(tag);
      }
    }
    source.leave(to);
    if (objectAt < 0) throw new MalformedProtobufError('an event without an object');
    source.at = objectAt;
    return this.#eventOf(resource, type);
  }

  #eventOf(resource: ProtobufResource, type: string): WatchEvent {
    const outer = this.#source.enter();
    const raw = this.#rawExtension(outer);
    const { kind } = resources[resource];
    const known = objectEventTypes.find((name) => name === type);
    if (known !== undefined) return { type: known, object: this.#objects.read(resource, this.#open(raw, kind)) };
    if (type === 'BOOKMARK') return { type, object: this.#objects.readBookmark(this.#open(raw, kind)) };
    if (type === 'ERROR') return { type, object: readStatus(this.#source, this.#open(raw, 'Status')) };
    throw new MalformedProtobufError(`an event of the unknown type "${type}"`);
  }

  /** `RawExtension{raw = 1}`: where its bytes end; the source stands at their beginning. */
  #rawExtension(end: number): number {
    const source = this.#source;
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) return source.enter();
      source.skip(tag);
    }
    throw new MalformedProtobufError('an event without an object');
  }

  /** Steps into an envelope that ends at `end`: where the object in it ends; the source stands at its beginning. */
  #open(end: number, kind: string): number {
    const source = this.#source;
    this.#readMagic();
    let named = false;
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x0a) named = this.#readKind(kind, source.enter());
      else if (tag === 0x12 && named) return source.enter();
      else source.skip(tag);
    }
    throw new MalformedProtobufError(`an envelope without a ${kind}`);
  }

  #readMagic(): void {
    const source = this.#source;
    for (const byte of magic) {
      if (source.bytes[source.at] !== byte) throw new MalformedProtobufError('not the protobuf form of Kubernetes');
      source.at += 1;
    }
  }

  #readKind(kind: string, end: number): true {
    const source = this.#source;
    let named = false;
    while (source.at < end) {
      const tag = source.tag();
      if (tag === 0x12) named = source.textIs(kind);
      else source.skip(tag);
    }
    source.leave(end);
    if (!named) throw new MalformedProtobufError(`an object of another kind than ${kind}`);
    return true;
  }
}
