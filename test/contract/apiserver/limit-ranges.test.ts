/** LimitRanges complete and limit pods and claims. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { aPod, expect, type Json, openClient } from './client.ts';

const client = await openClient();
const core = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;

/** A namespace with these limits, as soon as the server observes them: a claim of 1 byte is refused. */
async function limited(limits: readonly Json[]): Promise<string> {
  const namespace = await client.namespace();
  const sentinel = { type: 'PersistentVolumeClaim', min: { storage: '2' } };
  const hasSentinel = limits.some(({ type }) => type === sentinel.type);
  const all = hasSentinel ? limits : [...limits, sentinel];
  await client.make(core(namespace, 'limitranges'), { metadata: { name: 'l' }, spec: { limits: all } });
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await client.post(`${core(namespace, 'persistentvolumeclaims')}?dryRun=All`, claim('1'))).code === 403) break;
    await sleep(50);
  }
  return namespace;
}

function claim(storage: string): Json {
  return { metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } };
}

const container = (name: string, resources: Json = {}): Json => ({ name, image: 'registry/image:1', resources });

async function refusal(namespace: string, spec: Json): Promise<string> {
  const response = await client.post(core(namespace, 'pods'), aPod('p', { spec }));
  const { message } = expect(response, 403, { reason: 'Forbidden', status: 'Failure' });
  const start = 'pods "p" is forbidden: ';
  assert.equal(message.slice(0, start.length), start);
  return message.slice(start.length);
}

test('containers get the defaults, and the annotation says which', async () => {
  const limit = { type: 'Container', default: { cpu: '500m', memory: '64Mi' }, defaultRequest: { cpu: '100m' } };
  const namespace = await limited([limit]);
  const spec = {
    containers: [container('a'), container('b', { limits: { cpu: '2' }, requests: { memory: '1Mi' } })],
    initContainers: [container('i', { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '1m', memory: '1Mi' } })],
  };
  const pod = await client.pod(namespace, { spec });
  const [a, b] = pod.spec.containers;
  assert.deepEqual(a.resources, { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '100m', memory: '64Mi' } });
  assert.deepEqual(b.resources, { limits: { cpu: '2', memory: '64Mi' }, requests: { cpu: '2', memory: '1Mi' } });
  assert.deepEqual(pod.spec.initContainers[0].resources, spec.initContainers[0].resources);
  assert.equal(
    pod.metadata.annotations['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; memory limit for container b',
  );
  assert.equal(pod.status.qosClass, 'Burstable');
});

test('containers must be between minimum and maximum', async () => {
  const namespace = await limited([{ type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } }]);
  const of = (request: string, limit: string): Json => ({
    containers: [container('c', { requests: { cpu: request }, limits: { cpu: limit } })],
  });
  assert.equal(await refusal(namespace, of('50m', '1')), 'minimum cpu usage per Container is 100m, but request is 50m');
  assert.equal(
    await refusal(namespace, of('0.2', '1500m')),
    'maximum cpu usage per Container is 1, but limit is 1500m',
  );
  const both = of('50m', '60m');
  both.containers.push(container('d', { requests: { cpu: '1' }, limits: { cpu: '2' } }));
  assert.equal(
    await refusal(namespace, both),
    '[minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Container is 1, but limit is 2]',
  );
  expect(await client.post(core(namespace, 'pods'), aPod('p', { spec: of('100m', '1') })), 201);
});

test('the sums of a pod are limited, and what is missing is named', async () => {
  const limits = [{ type: 'Pod', max: { memory: '1Gi' }, min: { 'ephemeral-storage': '1Mi' } }];
  const namespace = await limited(limits);
  const memory = (amount: string): Json => ({ limits: { memory: amount, 'ephemeral-storage': '1Mi' } });
  const spec = { containers: [container('a', memory('600Mi')), container('b', memory('600Mi'))] };
  assert.equal(await refusal(namespace, spec), 'maximum memory usage per Pod is 1Gi, but limit is 1200Mi');
  const [first] = spec.containers;
  assert.equal(
    await refusal(namespace, { containers: [container('a', { limits: { memory: '1Gi' } })] }),
    'minimum ephemeral-storage usage per Pod is 1Mi.  No request is specified',
  );
  assert.equal(
    await refusal(namespace, { containers: [container('a', { limits: { 'ephemeral-storage': '1Gi' } })] }),
    'maximum memory usage per Pod is 1Gi.  No limit is specified',
  );
  expect(await client.post(core(namespace, 'pods'), aPod('p', { spec: { containers: [first] } })), 201);
});

test('the ratio of limit to request is limited', async () => {
  const namespace = await limited([{ type: 'Container', maxLimitRequestRatio: { cpu: '1.5' } }]);
  const of = (requests: Json, limits: Json): Json => ({ containers: [container('c', { requests, limits })] });
  const start = 'cpu max limit to request ratio per Container is 1500m, but ';
  assert.equal(await refusal(namespace, of({ cpu: '300m' }, { cpu: '1' })), `${start}provided ratio is 3.333333`);
  assert.equal(await refusal(namespace, of({}, {})), `${start}no request is specified or request is 0`);
  assert.equal(await refusal(namespace, of({ cpu: '1' }, {})), `${start}no limit is specified or limit is 0`);
  expect(await client.post(core(namespace, 'pods'), aPod('p', { spec: of({ cpu: '2' }, { cpu: '3' }) })), 201);
});

test('claims are limited by their requests', async () => {
  const limit = { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } };
  const namespace = await limited([limit]);
  const path = core(namespace, 'persistentvolumeclaims');
  const start = 'persistentvolumeclaims "c" is forbidden: ';
  assert.equal(
    expect(await client.post(path, claim('3Gi')), 403).message,
    `${start}maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`,
  );
  assert.equal(
    expect(await client.post(path, claim('1Mi')), 403).message,
    `${start}minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi`,
  );
  expect(await client.post(path, claim('1Gi')), 201);
});
