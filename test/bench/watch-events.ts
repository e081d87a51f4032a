// Watch events of a large cluster: bytes that are built once, in which only digits are overwritten. One HTTP chunk per event,
// as kube-apiserver flushes them.
import { varint } from '../support/protobuf-writer.ts';
import {
  bookmarkBytes,
  eventBytes,
  type Form,
  type Kind,
  microPlace,
  nanoPlace,
  places,
  secondPlace,
} from './cluster-objects.ts';

const podsPerNode = 10;
const podsPerWorkload = 20;
const namespaces = 500;
const zones = 10;
const blockBytes = 256 * 1024;

/** Bytes of one event, and the offsets of its digits. */
interface EventTemplate {
  readonly kind: Kind;
  readonly bytes: Buffer;
  readonly at: Readonly<Record<keyof typeof places, readonly number[]>>;
  readonly micros: readonly number[];
  readonly seconds: readonly number[];
  readonly nanos: readonly number[];
}

/** What differs from event to event. */
interface EventValues {
  /** Index of the object. */
  readonly n: number;
  readonly version: number;
  /** Of a lease as protobuf, in microseconds of Unix time; if absent, a time that differs from version to version. */
  readonly renewedAtMicros?: number;
}

export function eventTemplate(kind: Kind, form: Form, type: string): EventTemplate {
  const bytes = chunk(eventBytes(kind, form, type));
  const numbers = (value: number): readonly number[] => (form === 'json' ? [] : allOf(bytes, varint(value)));
  return {
    kind,
    bytes,
    at: {
      object: allOf(bytes, places.object),
      node: allOf(bytes, places.node),
      workload: allOf(bytes, places.workload),
      namespace: allOf(bytes, places.namespace),
      version: allOf(bytes, places.version),
    },
    micros: allOf(bytes, microPlace),
    seconds: numbers(secondPlace),
    nanos: numbers(nanoPlace),
  };
}

export function bookmarkChunk(kind: Kind, form: Form, version: number, endsInitialState: boolean): Buffer {
  return chunk(bookmarkBytes(kind, form, String(version), endsInitialState));
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function allOf(bytes: Buffer, wanted: string | Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

function writeDigits(block: Buffer, at: number, width: number, value: number): void {
  let left = value;
  for (let place = at + width - 1; place >= at; place -= 1) {
    block[place] = 0x30 + (left % 10);
    left = Math.floor(left / 10);
  }
}

/** Writes one event into a buffer; returns its end offset. */
export function writeEvent(block: Buffer, at: number, template: EventTemplate, given: EventValues): number {
  const { kind, bytes, at: offsets, micros, seconds, nanos } = template;
  const { n, version } = given;
  bytes.copy(block, at);
  const workload = Math.floor(n / podsPerWorkload);
  const values = {
    object: n,
    node: Math.floor(n / podsPerNode),
    workload,
    namespace: kind === 'nodes' ? n % zones : workload % namespaces,
    version,
  };
  for (const name of ['object', 'node', 'workload', 'namespace', 'version'] as const) {
    for (const offset of offsets[name]) writeDigits(block, at + offset, places[name].length, values[name]);
  }
  const renewedAtMicros = given.renewedAtMicros ?? defaultSecond * 1e6 + (version % 1_000_000);
  for (const offset of micros) writeDigits(block, at + offset, microPlace.length, renewedAtMicros % 1_000_000);
  for (const offset of seconds) writeNumber(block, at + offset, Math.floor(renewedAtMicros / 1e6));
  for (const offset of nanos) writeNumber(block, at + offset, (renewedAtMicros % 1_000_000) * 1_000);
  return at + bytes.length;
}

const defaultSecond = 1_795_243_340;

/** As five bytes, like its placeholder, whatever its size. */
function writeNumber(block: Buffer, at: number, value: number): void {
  let left = value;
  for (let place = 0; place < 4; place += 1) {
    block[at + place] = (left & 0x7f) | 0x80;
    left = Math.floor(left / 0x80);
  }
  block[at + 4] = left;
}

/** Events for the objects from the first one on, in blocks; the n-th object has the n-th version from the first. */
export function* initialBlocks(kind: Kind, form: Form, count: number, firstVersion: number): Generator<Buffer> {
  const added = eventTemplate(kind, form, 'ADDED');
  for (let n = 0; n < count; ) {
    const block = Buffer.allocUnsafeSlow(blockBytes);
    let at = 0;
    for (; n < count && at + added.bytes.length <= blockBytes; n += 1)
      at = writeEvent(block, at, added, { n, version: firstVersion + n });
    yield block.subarray(0, at);
  }
  yield bookmarkChunk(kind, form, firstVersion + count, true);
}

/** Updates of all objects in turn, without end. */
export function* updateBlocks(kind: Kind, form: Form, count: number, firstVersion: number): Generator<Buffer> {
  const modified = eventTemplate(kind, form, 'MODIFIED');
  let version = firstVersion;
  for (let n = 0; ; ) {
    const block = Buffer.allocUnsafeSlow(blockBytes);
    let at = 0;
    for (; at + modified.bytes.length <= blockBytes; n = (n + 1) % count) {
      version += 1;
      at = writeEvent(block, at, modified, { n, version });
    }
    yield block.subarray(0, at);
  }
}
