import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toWireForm, WireFormError } from '../../../../../src/hollow-cluster/apiserver/codec/wire-form.ts';

const pod = ['v1', 'Pod'] as const;
const lease = ['coordination.k8s.io/v1', 'Lease'] as const;

test('unknown fields are dropped and reported with their path', () => {
  const { object, unknown } = toWireForm(...pod, {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', foo: 1 }], bar: {} },
  });
  assert.deepEqual(unknown, ['spec.containers[0].foo', 'spec.bar']);
  assert.equal(JSON.stringify(object).includes('foo'), false);
});

test('nulls and zeros are omitted where Go omits them', () => {
  const { object } = toWireForm(...pod, {
    metadata: { name: 'p', labels: {}, finalizers: [], namespace: '', deletionTimestamp: null },
    spec: { hostNetwork: false, tolerations: [{ key: '', operator: 'Exists', tolerationSeconds: 0 }] },
  });
  assert.deepEqual(object['metadata'], { name: 'p' });
  assert.deepEqual(object['spec'], { containers: null, tolerations: [{ operator: 'Exists', tolerationSeconds: 0 }] });
  assert.deepEqual(object['status'], {});
});

test('times have the precision of their type', () => {
  const { object } = toWireForm(...lease, {
    metadata: { creationTimestamp: '2026-01-01T01:00:00.9+01:00' },
    spec: { renewTime: '2026-01-01T01:00:00.123456+01:00', acquireTime: '0001-01-01T00:00:00Z' },
  });
  assert.deepEqual(object, {
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { renewTime: '2026-01-01T00:00:00.123456Z' },
  });
});

test('values of the wrong type are rejected', () => {
  for (const spec of [
    { renewTime: '2026-01-01T00:00:00.123Z' },
    { renewTime: 5 },
    { leaseDurationSeconds: '5' },
    { leaseDurationSeconds: 1.5 },
    { holderIdentity: {} },
  ]) {
    assert.throws(() => toWireForm(...lease, { metadata: {}, spec }), WireFormError, JSON.stringify(spec));
  }
  assert.throws(() => toWireForm(...lease, { metadata: [] }), WireFormError);
  const requests = (cpu: unknown): object => ({
    metadata: {},
    spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
  });
  assert.doesNotThrow(() => toWireForm(...pod, { ...requests('500m') }));
  assert.throws(() => toWireForm(...pod, { ...requests('much') }), WireFormError);
});

test('a number that may be text has 32 bits', () => {
  const withSurge = (maxSurge: unknown): object =>
    toWireForm('apps/v1', 'Deployment', { metadata: {}, spec: { strategy: { rollingUpdate: { maxSurge } } } });
  for (const value of ['3000000000', 2_147_483_647, -2_147_483_648]) assert.doesNotThrow(() => withSurge(value));
  const field = 'spec.strategy.rollingUpdate.maxSurge';
  for (const value of [3_000_000_000, -2_147_483_649, 1.5]) {
    const message = `${field}: must be an integer of 32 bits (got ${value})`;
    assert.throws(() => withSurge(value), new WireFormError(message));
  }
  assert.throws(() => withSurge(1e300), WireFormError);
});

test('bytes are base64 text, written as Go writes them', () => {
  const data = { plain: 'YWI=', broken: 'YW\nI=\r\n', loose: 'YR==', empty: '', none: null };
  const secret = toWireForm('v1', 'Secret', { metadata: {}, data });
  assert.deepEqual(secret.object['data'], { plain: 'YWI=', broken: 'YWI=', loose: 'YQ==', empty: '', none: '' });
  assert.deepEqual(toWireForm('v1', 'Secret', { metadata: {}, data: {} }).object, { metadata: {} });
  const request = (spec: object): unknown => {
    const { object } = toWireForm('certificates.k8s.io/v1', 'CertificateSigningRequest', { metadata: {}, spec });
    return (object['spec'] as { readonly request: unknown }).request;
  };
  assert.deepEqual([request({ request: 'YWI=' }), request({ request: '' }), request({})], ['YWI=', '', null]);
});

test('text that is not base64 is rejected', () => {
  const texts = [
    'not base64',
    'YWI',
    'YWJjZA',
    'YW\nI',
    '=',
    'Y=I=',
    'YQ=',
    'YQ=a',
    'YWI=YWI=',
    'YQ==\nx',
    'YW_-',
    'ä',
  ];
  for (const text of texts) {
    assert.throws(
      () => toWireForm('v1', 'ConfigMap', { metadata: {}, binaryData: { a: text } }),
      new WireFormError(`binaryData[a]: must be base64 (got ${JSON.stringify(text)})`),
    );
  }
  assert.throws(() => toWireForm('v1', 'Secret', { metadata: {}, data: { a: 1 } }), {
    message: 'data[a]: must be base64 (got 1)',
  });
});

test('the conversion is idempotent', () => {
  const sent = {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
    status: { conditions: [{ type: 'Ready' }] },
  };
  const { object } = toWireForm(...pod, sent);
  assert.deepEqual(toWireForm(...pod, object), { object, unknown: [] });
});
