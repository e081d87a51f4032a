// A process that serves only watch streams: an initial state of a given size, then updates without limit, as fast as they
// are read. One HTTP chunk per event, as kube-apiserver flushes them. Bytes are built once and digits overwritten.
import { createServer, type Socket } from 'node:net';
import { bookmarkBytes, eventBytes, type Form, type Kind, microPlace, nanoPlace, places } from './cluster-objects.ts';
import { varint } from '../support/protobuf-writer.ts';

const blockBytes = 256 * 1024;
const firstVersion = 1_000_000_000;
const podsPerNode = 10;
const podsPerWorkload = 20;
const namespaces = 500;

/** Bytes of one event, and the offsets of its digits. */
interface Template {
  readonly bytes: Buffer;
  readonly at: Readonly<Record<keyof typeof places, readonly number[]>>;
  readonly micros: readonly number[];
  readonly nanos: readonly number[];
}

function template(kind: Kind, form: Form, type: string): Template {
  const event = eventBytes(kind, form, type);
  const bytes = Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, Buffer.from('\r\n')]);
  return {
    bytes,
    at: {
      object: allOf(bytes, places.object),
      node: allOf(bytes, places.node),
      workload: allOf(bytes, places.workload),
      namespace: allOf(bytes, places.namespace),
      version: allOf(bytes, places.version),
    },
    micros: allOf(bytes, microPlace),
    nanos: form === 'json' ? [] : allOf(bytes, varint(nanoPlace)),
  };
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
function writeEvent(
  block: Buffer,
  at: number,
  { bytes, at: offsets, micros, nanos }: Template,
  n: number,
  version: number,
): number {
  bytes.copy(block, at);
  const values = {
    object: n,
    node: Math.floor(n / podsPerNode),
    workload: Math.floor(n / podsPerWorkload),
    namespace: Math.floor(n / podsPerWorkload) % namespaces,
    version,
  };
  for (const name of ['object', 'node', 'workload', 'namespace', 'version'] as const) {
    for (const offset of offsets[name]) writeDigits(block, at + offset, places[name].length, values[name]);
  }
  const micro = version % 1_000_000;
  for (const offset of micros) writeDigits(block, at + offset, microPlace.length, micro);
  // Above 268 million, so that it takes five bytes like its placeholder.
  for (const offset of nanos) writeNumber(block, at + offset, 300_000_000 + (micro % 600_000) * 1_000);
  return at + bytes.length;
}

function writeNumber(block: Buffer, at: number, value: number): void {
  let left = value;
  for (let place = 0; place < 4; place += 1) {
    block[at + place] = (left & 0x7f) | 0x80;
    left >>>= 7;
  }
  block[at + 4] = left;
}

function* blocks(kind: Kind, form: Form, count: number, endless: boolean): Generator<Buffer> {
  let version = firstVersion;
  const added = template(kind, form, 'ADDED');
  const modified = template(kind, form, 'MODIFIED');
  for (let n = 0; n < count; ) {
    const block = Buffer.allocUnsafeSlow(blockBytes);
    let at = 0;
    for (; n < count && at + added.bytes.length <= blockBytes; n += 1) {
      at = writeEvent(block, at, added, n, version);
      version += 1;
    }
    yield block.subarray(0, at);
  }
  const end = bookmarkBytes(kind, form, String(version));
  yield Buffer.concat([Buffer.from(`${end.length.toString(16)}\r\n`), end, Buffer.from('\r\n')]);
  if (!endless) return;
  for (let n = 0; ; ) {
    const block = Buffer.allocUnsafeSlow(blockBytes);
    let at = 0;
    for (; at + modified.bytes.length <= blockBytes; n = (n + 1) % count) {
      version += 1;
      at = writeEvent(block, at, modified, n, version);
    }
    yield block.subarray(0, at);
  }
}

/** The path selects the resource: `/…/pods?…`; counts come from the command line. */
function serve(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.once('data', (request: Buffer) => {
    const text = request.toString('latin1');
    const kind = (['leases', 'pods', 'nodes'] as const).find((name) => text.split('?', 1)[0]?.endsWith(name)) ?? 'pods';
    const form: Form = /accept: application\/vnd\.kubernetes\.protobuf/i.test(text) ? 'protobuf' : 'json';
    const type = form === 'json' ? 'application/json' : 'application/vnd.kubernetes.protobuf;stream=watch';
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`);
    const stream = blocks(kind, form, counts[kind], process.argv.includes('--endless'));
    const pump = (): void => {
      for (let next = stream.next(); next.done !== true; next = stream.next()) {
        if (!socket.write(next.value)) {
          socket.once('drain', pump);
          return;
        }
      }
    };
    pump();
  });
}

const counts: Record<Kind, number> = { leases: 0, pods: 0, nodes: 0 };
for (const kind of ['leases', 'pods', 'nodes'] as const) {
  counts[kind] = Number(process.argv.find((argument) => argument.startsWith(`--${kind}=`))?.split('=')[1] ?? 0);
}
const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('disconnect', () => process.exit());
