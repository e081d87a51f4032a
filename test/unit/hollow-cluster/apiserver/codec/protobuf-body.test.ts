import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ApiError } from '../../../../../src/machinery/api/api-error.ts';
import { decodeProtobufBody, isProtobufBody } from '../../../../../src/hollow-cluster/apiserver/codec/protobuf-body.ts';
// Bytes written by the Go client's encoder, and the JSON that it writes for the same object.
import recorded from './recorded-bodies.json' with { type: 'json' };

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));
const magic = [0x6b, 0x38, 0x73, 0x00];

for (const { name, base64, json } of recorded) {
  test(`decodes a recorded body: ${name}`, () => {
    assert.deepEqual(structuredClone(decodeProtobufBody(bytesOf(base64))), json);
  });
}

test('a zero is kept for a pointer field in Go and dropped for a value field', () => {
  const lease = recorded.find(({ name }) => name === 'lease with pointers to zero');
  const { spec, metadata } = decodeProtobufBody(bytesOf(lease?.base64 ?? ''));
  assert.deepEqual(spec, {
    holderIdentity: '',
    leaseDurationSeconds: 40,
    leaseTransitions: 0,
    renewTime: '2026-01-02T03:04:05.678901Z',
  });
  assert.equal(Object.hasOwn(metadata as object, 'generateName'), false);
});

test('a body without a kind gets the kind of the request', () => {
  // An envelope without type, around a DeleteOptions whose first field, gracePeriodSeconds, is 0.
  const bytes = new Uint8Array([...magic, 0x12, 2, 0x08, 0]);
  const options = decodeProtobufBody(bytes, { apiVersion: 'v1', kind: 'DeleteOptions' });
  assert.deepEqual(structuredClone(options), { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
});

test('an empty body is decoded to the empty object', () => {
  const bytes = new Uint8Array(magic);
  assert.deepEqual(structuredClone(decodeProtobufBody(bytes, { apiVersion: 'v1', kind: 'DeleteOptions' })), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
  });
});

test('bytes are decoded to base64 text', () => {
  const envelope = (raw: readonly number[]): Uint8Array => new Uint8Array([...magic, 0x12, raw.length, ...raw]);
  // Field 2 is the map `data`: an entry of two bytes, and one that is empty.
  const entries = [0x12, 7, 0x0a, 1, 0x61, 0x12, 2, 0xff, 0x00, 0x12, 5, 0x0a, 1, 0x62, 0x12, 0];
  const secret = decodeProtobufBody(envelope(entries), { apiVersion: 'v1', kind: 'Secret' });
  assert.deepEqual(structuredClone(secret['data']), { a: '/wA=', b: '' });
  // Field 2 is `spec`, whose field 1 is `request`.
  const request = envelope([0x12, 4, 0x0a, 2, 0x61, 0x62]);
  const kind = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' };
  assert.partialDeepStrictEqual(decodeProtobufBody(request, kind)['spec'], { request: 'YWI=' });
});

const isBadRequest = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'bad-request' && error.code === 400;

test('a body without the protobuf prefix is rejected', () => {
  assert.equal(isProtobufBody(new TextEncoder().encode('{"kind":"Pod"}')), false);
  assert.throws(() => decodeProtobufBody(new TextEncoder().encode('{"kind":"Pod"}')), isBadRequest);
  assert.throws(() => decodeProtobufBody(new Uint8Array()), isBadRequest);
});

test('a kind that is not served is rejected', () => {
  const kind = new TextEncoder().encode('Gadget');
  const typeMeta = [0x0a, 2, 0x76, 0x31, 0x12, kind.length, ...kind];
  const bytes = new Uint8Array([...magic, 0x0a, typeMeta.length, ...typeMeta]);
  assert.throws(() => decodeProtobufBody(bytes), { message: /"Gadget".*"v1"/ });
  assert.throws(() => decodeProtobufBody(bytes), isBadRequest);
});

test('managedFields that are not JSON, and times out of range, are rejected', () => {
  const envelope = (raw: readonly number[]): Uint8Array => new Uint8Array([...magic, 0x12, raw.length, ...raw]);
  const namespace = { apiVersion: 'v1', kind: 'Namespace' };
  const fieldsV1 = [0x0a, 1, 0x7b];
  const entry = [0x3a, fieldsV1.length, ...fieldsV1];
  const metadata = [0x8a, 1, entry.length, ...entry];
  assert.throws(() => decodeProtobufBody(envelope([0x0a, metadata.length, ...metadata]), namespace), isBadRequest);
  const farSeconds = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
  const created = [0x42, farSeconds.length, ...farSeconds];
  assert.throws(() => decodeProtobufBody(envelope([0x0a, created.length, ...created]), namespace), isBadRequest);
});

test('a corrupt body is decoded or rejected with an ApiError', () => {
  const bodies = recorded.map(({ base64 }) => bytesOf(base64));
  fc.assert(
    fc.property(
      fc.constantFrom(...bodies),
      fc.nat(),
      fc.integer({ min: 0, max: 255 }),
      fc.nat(),
      (body, at, byte, length) => {
        const damaged = body.slice(0, 4 + (length % body.length));
        damaged[4 + (at % Math.max(1, damaged.length - 4))] = byte;
        try {
          assert.equal(typeof decodeProtobufBody(damaged, { apiVersion: 'v1', kind: 'Pod' }).kind, 'string');
        } catch (error) {
          assert.ok(isBadRequest(error), String(error));
        }
      },
    ),
    { numRuns: 400 },
  );
});
