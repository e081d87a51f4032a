// What a real kube-apiserver wrote (test/control-plane/record-golden.ts): the same objects, encoded here, are the same bytes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import {
  encodeEnvelope,
  encodeWatchFrame,
  ListEncoder,
} from '../../../../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';
import { decodeProtobufBody } from '../../../../../src/hollow-cluster/apiserver/codec/protobuf-body.ts';
import { toWireForm } from '../../../../../src/hollow-cluster/apiserver/codec/wire-form.ts';
import { filledObjects } from '../../../../support/filled-objects.ts';
import recorded from './recorded-bodies.json' with { type: 'json' };
import encodings from './recorded-encodings.json' with { type: 'json' };

const folder = join(import.meta.dirname, '../../../../contract/kube-api/golden');
const read = (name: string): Buffer => readFileSync(join(folder, name));

/** Of the bytes of the Go client (test/control-plane/record-encodings.ts). */
const checksums = new Map(Object.entries(encodings));

interface Listed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly items?: readonly object[];
}

function encodeDocument(document: Listed): Buffer {
  if (document.items === undefined) return encodeEnvelope(document, document);
  const list = new ListEncoder(document, { apiVersion: document.apiVersion, kind: document.kind.replace(/List$/, '') });
  for (const item of document.items.toReversed()) list.prepend(item);
  return Buffer.concat(list.finish(document.metadata));
}

for (const name of globSync(join(folder, '*.json')).map((file) => basename(file, '.json'))) {
  test(`encodes as kube-apiserver does: ${name}`, () => {
    const document: Listed = JSON.parse(read(`${name}.json`).toString());
    assert.deepEqual(encodeDocument(document).toString('hex'), read(`${name}.pb`).toString('hex'));
  });
}

for (const name of globSync(join(folder, '*.jsonl')).map((file) => basename(file, '.jsonl'))) {
  test(`encodes the events of a watch as kube-apiserver does: ${name}`, () => {
    const lines = read(`${name}.jsonl`).toString().trim().split('\n');
    const frames = lines.map((line) => {
      const { type, object }: { type: string; object: Listed } = JSON.parse(line);
      return encodeWatchFrame(type, object, object);
    });
    assert.deepEqual(Buffer.concat(frames).toString('hex'), read(`${name}.pb`).toString('hex'));
  });
}

for (const { name, base64, json } of recorded) {
  test(`encodes a body as the Go client does: ${name}`, () => {
    assert.equal(encodeEnvelope(json, json).toString('base64'), base64);
  });
}

test('an object that is larger than the buffer of the encoder is encoded whole', () => {
  const type = { apiVersion: 'v1', kind: 'ConfigMap' };
  const data = { large: 'x'.repeat(10_000_000), umlaut: 'ü'.repeat(100_000) };
  const bytes = encodeEnvelope(type, { metadata: {}, data });
  assert.ok(bytes.includes(data.large) && bytes.includes(data.umlaut));
  assert.ok(encodeEnvelope(type, { metadata: {} }).length < 100);
});

test('a value that a stored object should not have is encoded as none, and hides no other object', () => {
  const type = { apiVersion: 'apps/v1', kind: 'Deployment' };
  const encode = (replicas: unknown, maxSurge: unknown, at: string): string => {
    const spec = { replicas, strategy: { rollingUpdate: { maxSurge } } };
    return encodeEnvelope(type, { metadata: { creationTimestamp: at }, spec }).toString('hex');
  };
  assert.equal(encode(80.5, 1e300, '+011533-07-11T08:11Z'), encode(0, 0, ''));
});

test('keys of a map are in the order of their bytes', () => {
  const type = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
  // By UTF-16 units the second would be the first.
  const keys = ['\uff5e', '\u{1f680}'];
  const extra = Object.fromEntries(keys.toReversed().map((key) => [key, ['value']]));
  const bytes = encodeEnvelope(type, { metadata: {}, spec: { extra } });
  assert.ok(bytes.indexOf(keys[0]!) < bytes.indexOf(keys[1]!));
});

test('custom resources and tables have no protobuf form', () => {
  assert.throws(() => encodeEnvelope({ apiVersion: 'example.com/v1', kind: 'Pod' }, {}), /no protobuf form/);
  assert.throws(() => encodeEnvelope({ apiVersion: 'meta.k8s.io/v1', kind: 'Table' }, {}), /"Table".*no protobuf form/);
});

for (const [name, object] of Object.entries(filledObjects())) {
  test(`every field is encoded as the Go client does, and can be decoded again: ${name}`, () => {
    const { object: stored, unknown } = toWireForm(object.apiVersion, object.kind, object);
    assert.deepEqual(unknown, ['apiVersion', 'kind']);
    const bytes = encodeEnvelope(object, stored);
    assert.equal(createHash('sha256').update(bytes).digest('hex'), checksums.get(name));
    const decoded = structuredClone(decodeProtobufBody(bytes));
    assert.deepEqual(decoded, { kind: object.kind, apiVersion: object.apiVersion, ...stored });
  });
}

test('every kind is recorded', () => {
  assert.ok(checksums.size > 120);
  assert.deepEqual([...checksums.keys()], Object.keys(filledObjects()));
});
