import type { KubeObject, ListMeta } from '../api/meta.ts';
import { resources } from '../api/resources.ts';
import { ChunkBuffer, ChunkTooLongError } from './chunk-buffer.ts';
import { magic, type ProtobufEnvelope } from './protobuf-envelope.ts';
import type { ProtobufResource } from './protobuf-objects.ts';
import { MalformedProtobufError } from './protobuf-reader.ts';
import type { ListDecoder, ListTakers } from './wire-format.ts';

const itemBytesMax = 16 * 1024 * 1024;
const varintBytesMax = 10;
const tags = { typeMeta: 0x0a, raw: 0x12, listMeta: 0x0a, item: 0x12 } as const;

/** The header of a field: where its content starts and ends, possibly beyond the received bytes. */
interface Head {
  readonly tag: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A protobuf list, decoded item by item: the list is one field of its envelope and is decoded while it arrives. At most
 * one item is buffered.
 */
export class ProtobufListDecoder implements ListDecoder {
  readonly #envelope: ProtobufEnvelope;
  readonly #resource: ProtobufResource;
  readonly #takers: ListTakers;
  readonly #buffer = new ChunkBuffer(magic.length);
  #inside: 'nothing' | 'envelope' | 'list' = 'nothing';
  #named = false;
  #listed = false;
  /** Remaining bytes of the list. */
  #listBytes = 0;
  #metadata: ListMeta = {};

  constructor(envelope: ProtobufEnvelope, resource: ProtobufResource, takers: ListTakers) {
    this.#envelope = envelope;
    this.#resource = resource;
    this.#takers = takers;
  }

  push(chunk: Buffer): void {
    const bytes = this.#buffer.push(chunk);
    if (bytes === undefined) return;
    let at = 0;
    for (let next = this.#step(bytes, at); ; next = this.#step(bytes, at)) {
      if (next.missing > 0) {
        this.#buffer.retain(bytes.subarray(at), bytes.length - at + next.missing);
        return;
      }
      at = next.at;
    }
  }

  end(): ListMeta {
    if (this.#inside !== 'envelope' || !this.#listed || this.#buffer.bytes > 0) {
      throw new MalformedProtobufError('the list is cut short');
    }
    return this.#metadata;
  }

  /** Decodes the part that starts at `at`: returns the start of the next one, or the minimum number of missing bytes. */
  #step(bytes: Buffer, at: number): { readonly at: number; readonly missing: number } {
    if (this.#inside === 'nothing') return this.#readMagic(bytes, at);
    const head = readHead(bytes, at);
    if (head === undefined) return { at, missing: 1 };
    if (this.#inside === 'envelope' && head.tag === tags.raw) return this.#stepIn(head);
    if (head.to - head.from > itemBytesMax) throw new ChunkTooLongError(`an item of more than ${itemBytesMax} bytes`);
    if (head.to > bytes.length) return { at, missing: head.to - bytes.length };
    if (this.#inside === 'list') this.#readPart(bytes, at, head);
    else if (head.tag === tags.typeMeta) this.#readKind(bytes, head);
    return { at: head.to, missing: 0 };
  }

  #readMagic(bytes: Buffer, at: number): { readonly at: number; readonly missing: number } {
    if (!magic.equals(bytes.subarray(at, at + magic.length))) {
      throw new MalformedProtobufError('not the protobuf form of Kubernetes');
    }
    this.#inside = 'envelope';
    return { at: at + magic.length, missing: 0 };
  }

  #readKind(bytes: Buffer, head: Head): void {
    this.#envelope.assertKind(bytes, head.from, head.to, `${resources[this.#resource].kind}List`);
    this.#named = true;
  }

  #stepIn({ from, to }: Head): { readonly at: number; readonly missing: number } {
    if (!this.#named || this.#listed) throw new MalformedProtobufError('an envelope that is not of one list');
    this.#listBytes = to - from;
    this.#listed = true;
    if (this.#listBytes > 0) this.#inside = 'list';
    return { at: from, missing: 0 };
  }

  #readPart(bytes: Buffer, at: number, head: Head): void {
    this.#listBytes -= head.to - at;
    if (this.#listBytes < 0) throw new MalformedProtobufError('an item is longer than its list');
    if (this.#listBytes === 0) this.#inside = 'envelope';
    if (head.tag === tags.item) this.#readItem(bytes, head.from, head.to);
    else if (head.tag === tags.listMeta) {
      this.#metadata = this.#envelope.readListMeta(bytes, head.from, head.to);
    }
  }

  #readItem(bytes: Buffer, from: number, to: number): void {
    let item: KubeObject;
    try {
      item = this.#envelope.readItem(this.#resource, bytes, from, to);
    } catch (error) {
      if (!(error instanceof MalformedProtobufError)) throw error;
      this.#takers.skip(this.#envelope.describeUndecodable(error, bytes, from, to));
      return;
    }
    this.#takers.take(item);
  }
}

/** Undefined while the header is incomplete. */
function readHead(bytes: Buffer, at: number): Head | undefined {
  const tag = readVarint(bytes, at);
  if (tag === undefined) return undefined;
  switch (tag.value & 7) {
    case 0: {
      const value = readVarint(bytes, tag.to);
      return value === undefined ? undefined : { tag: tag.value, from: tag.to, to: value.to };
    }
    case 1:
      return { tag: tag.value, from: tag.to, to: tag.to + 8 };
    case 2: {
      const length = readVarint(bytes, tag.to);
      return length === undefined ? undefined : { tag: tag.value, from: length.to, to: length.to + length.value };
    }
    case 5:
      return { tag: tag.value, from: tag.to, to: tag.to + 4 };
    default:
      throw new MalformedProtobufError(`a field of wire type ${tag.value & 7}`);
  }
}

function readVarint(bytes: Buffer, from: number): { readonly value: number; readonly to: number } | undefined {
  let value = 0;
  for (let at = from; at < from + varintBytesMax; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * (at - from));
    // A list may be longer than 2^31 bytes. A length beyond the safe integers is longer than any accepted part.
    if (byte < 0x80) return { value: Math.min(value, Number.MAX_SAFE_INTEGER), to: at + 1 };
  }
  throw new MalformedProtobufError('a number of more than ten bytes');
}
