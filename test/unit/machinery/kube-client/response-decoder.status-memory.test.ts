import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../../../src/machinery/kube-client/response-decoder.ts';
import { protobufType } from '../../../../src/machinery/wire/wire-format.ts';
import { envelope, field, message } from '../../../support/protobuf-writer.ts';

const responses = 20;
/** The string caches alone take eight million bytes. */
const bytesMax = 1_000_000;

test('an error response in protobuf allocates no caches', () => {
  const status = message(field(2, 'Failure'), field(3, 'nodes "n" not found'), field(4, 'NotFound'), field(6, 404));
  const body = envelope('v1', 'Status', status);
  for (let index = 0; index < responses; index += 1) {
    const before = process.memoryUsage().arrayBuffers;
    assert.equal(statusOf(protobufType, body)?.reason, 'NotFound');
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < bytesMax, `${grown} bytes`);
  }
});
