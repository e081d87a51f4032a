/**
 * Responses in protobuf, byte for byte as Go's generated marshallers write the same object: fields in ascending order,
 * keys of maps sorted, and a field that is no pointer written even if it is zero. The input is the JSON form of an object,
 * as it is stored.
 */
import { type MessagePlan, messagePlanOf, writeMessage } from './message-plan.ts';
import { responseMessageOf } from './message-table.ts';
import { ReverseWriter } from './reverse-writer.ts';

/** What an envelope says about its object. */
export interface EnvelopeType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** `k8s` and a zero byte: the prefix of every body. */
const magic = Buffer.from('k8s\0');
/** The end of a `runtime.Unknown`: neither content encoding nor content type. */
const envelopeEnd = Buffer.from([0x1a, 0, 0x22, 0]);
const listMeta = 'k8s.io.apimachinery.pkg.apis.meta.v1.ListMeta';
/** Parts of a list have about this size. */
const partBytesMin = 64 * 1024;

/** Tags of length-delimited fields. */
const firstField = 0x0a;
const secondField = 0x12;

/** The fields of a list, which all kinds number alike but for one. */
interface ListTags {
  readonly metadata: number;
  readonly items: number;
}

const listTags: ListTags = { metadata: firstField, items: secondField };
/** Tags of the `PartialObjectMetadataList` of v1beta1. */
const betaListTags: ListTags = { metadata: secondField, items: firstField };
const betaMeta = 'meta.k8s.io/v1beta1';

/** Encoding is synchronous: one writer is enough. */
const shared = new ReverseWriter();

/** The body for one object. Throws an Error for a kind without a protobuf form. */
export function encodeEnvelope(type: EnvelopeType, object: unknown): Buffer {
  shared.clear();
  writeEnvelope(shared, type, object);
  return shared.take();
}

/** A frame of a watch: its length in four bytes, and a `WatchEvent` whose object is in an envelope of its own. */
export function encodeWatchFrame(event: string, type: EnvelopeType, object: unknown): Buffer {
  shared.clear();
  writeEnvelope(shared, type, object);
  closePart(shared, 0, firstField);
  closePart(shared, 0, secondField);
  shared.text(event);
  shared.varint(firstField);
  shared.uint32BigEndian(shared.length);
  return shared.take();
}

function writeEnvelope(writer: ReverseWriter, type: EnvelopeType, object: unknown): void {
  const plan = planOf(type);
  writer.raw(envelopeEnd);
  const end = writer.length;
  writeMessage(writer, plan, object);
  closePart(writer, end, secondField);
  writeType(writer, type);
}

function planOf({ apiVersion, kind }: EnvelopeType): MessagePlan {
  const message = responseMessageOf(apiVersion, kind);
  if (message === undefined) throw new Error(`kind "${kind}" of version "${apiVersion}" has no protobuf form`);
  return messagePlanOf(message);
}

function writeType(writer: ReverseWriter, { apiVersion, kind }: EnvelopeType): void {
  const end = writer.length;
  writer.text(kind);
  writer.varint(secondField);
  writer.text(apiVersion);
  writer.varint(firstField);
  closePart(writer, end, firstField);
  writer.raw(magic);
}

/** Length and tag of the part that was written since the writer had the length `end`. */
function closePart(writer: ReverseWriter, end: number, tag: number): void {
  writer.varint(writer.length - end);
  writer.varint(tag);
}

/** Encodes one list, from its last item to its first: the list stands after its own length. */
export class ListEncoder {
  readonly #type: EnvelopeType;
  readonly #item: MessagePlan;
  readonly #tags: ListTags;
  readonly #writer = new ReverseWriter();
  /** The last part first. */
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  /** Throws an Error if the items have no protobuf form. */
  constructor(type: EnvelopeType, item: EnvelopeType) {
    this.#type = type;
    this.#item = planOf(item);
    this.#tags = item.apiVersion === betaMeta ? betaListTags : listTags;
  }

  /** Adds an item before the ones that were added earlier. */
  prepend(object: unknown): void {
    const end = this.#writer.length;
    writeMessage(this.#writer, this.#item, object);
    closePart(this.#writer, end, this.#tags.items);
    if (this.#writer.length >= partBytesMin) this.#split();
  }

  /** The body, in the order of its bytes. */
  finish(metadata: unknown): readonly Buffer[] {
    const { items, metadata: tag } = this.#tags;
    this.#split();
    writeMessage(this.#writer, messagePlanOf(listMeta), metadata);
    closePart(this.#writer, 0, tag);
    const meta = this.#writer.take();
    const list = this.#parts.reverse();
    const parts = tag < items ? [meta, ...list] : [...list, meta];
    this.#writer.varint(this.#bytes + meta.length);
    this.#writer.varint(secondField);
    writeType(this.#writer, this.#type);
    return [this.#writer.take(), ...parts, envelopeEnd];
  }

  #split(): void {
    const part = this.#writer.take();
    this.#bytes += part.length;
    this.#parts.push(part);
  }
}
