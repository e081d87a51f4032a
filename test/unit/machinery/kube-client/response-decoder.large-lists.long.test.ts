import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { ResponseDecoder } from '../../../../src/machinery/kube-client/response-decoder.ts';
import { jsonType, protobufType, type WireType } from '../../../../src/machinery/wire/wire-format.ts';
import { field, message, varint } from '../../../support/protobuf-writer.ts';

const mebibyte = 2 ** 20;
/** More than a Buffer could hold in older releases of Node.js, and more than 2^31 bytes. */
const protobufItems = 2_200;
/** More than the limit of a response that is not streamed. */
const jsonItems = 300;
/** A chunk and an item, which are concatenated. */
const keptMax = 16 * mebibyte;
/** Items between two garbage collections, after which memory is measured. */
const measuredEach = 50;

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc') as () => void;

const filler = Buffer.alloc(mebibyte, 0x61);

/** The same bytes repeated: the decoder cannot hold on to memory of them. */
async function* bodyOf(head: Buffer, item: Buffer, items: number, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  // Items straddle chunks, as they do on a socket.
  const [first, second] = [item.subarray(0, item.length / 2), item.subarray(item.length / 2)];
  for (let left = items; left > 0; left -= 1) {
    yield first;
    yield second;
  }
  yield tail;
}

function protobufBody(): AsyncGenerator<Buffer> {
  // Field 15 of a lease is unknown.
  const item = field(2, message(field(1, field(1, 'a')), field(15, filler)));
  const metadata = field(1, field(2, '9'));
  const typeMeta = field(1, message(field(1, 'coordination.k8s.io/v1'), field(2, 'LeaseList')));
  const bytes = metadata.length + item.length * protobufItems;
  const head = message(Buffer.from('k8s\0'), typeMeta, Buffer.from([0x12]), varint(bytes), metadata);
  return bodyOf(head, item, protobufItems, Buffer.alloc(0));
}

function jsonBody(): AsyncGenerator<Buffer> {
  const item = Buffer.from(`{"metadata":{"name":"a","annotations":{"long":"${filler.toString('latin1')}"}}},`);
  const last = Buffer.from('{"metadata":{"name":"a"}}]}');
  return bodyOf(Buffer.from('{"metadata":{"resourceVersion":"9"},"items":['), item, jsonItems - 1, last);
}

async function read(contentType: WireType, chunks: AsyncGenerator<Buffer>): Promise<{ items: number; kept: number }> {
  collect();
  const before = process.memoryUsage().arrayBuffers;
  let items = 0;
  const kept: number[] = [];
  const take = (): void => {
    items += 1;
    if (items % measuredEach !== 0) return;
    collect();
    kept.push(process.memoryUsage().arrayBuffers - before);
  };
  const reading = { bytesMax: Number.POSITIVE_INFINITY, take, skip: () => assert.fail() };
  const metadata = await new ResponseDecoder().readList('leases', { contentType, chunks }, reading);
  assert.equal(metadata.resourceVersion, '9');
  // Collected memory may be released later: the median of several measurements is the memory in use.
  return { items, kept: kept.toSorted((a, b) => a - b)[Math.floor(kept.length / 2)] ?? Infinity };
}

describe('a list without paging', () => {
  for (const [contentType, body, items] of [
    [protobufType, protobufBody, protobufItems],
    [jsonType, jsonBody, jsonItems],
  ] as const) {
    test(`${contentType}: ${items} MiB are decoded item by item`, async () => {
      const { items: taken, kept } = await read(contentType, body());
      assert.equal(taken, items);
      assert.ok(kept < keptMax, `${kept} bytes at once`);
    });
  }
});
