/** What the embedded server does with quotas by itself: usage is what is stored, and its controller writes the status. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { DataDir } from '../../../src/apiserver/data-dir/data-dir.ts';
import { silentLogger } from '../../support/fakes.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { embeddedBackend } from './backend.ts';
import { aPod, Client, expect, type Json, mergePatch, openClient, podPath } from './client.ts';

const client = await openClient({ controllers: ['resourcequota-controller'] });
const core = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;

async function statusOf(namespace: string, from: Client = client): Promise<Json> {
  return expect(await from.get(`${core(namespace, 'resourcequotas')}/q`), 200).status;
}

async function untilUsed(namespace: string, used: Json, from: Client = client): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (JSON.stringify((await statusOf(namespace, from)).used) === JSON.stringify(used)) return;
    await sleep(20);
  }
  assert.deepEqual((await statusOf(namespace, from)).used, used);
}

async function quota(hard: Json, from: Client = client): Promise<string> {
  const namespace = await from.namespace();
  await from.make(core(namespace, 'resourcequotas'), { metadata: { name: 'q' }, spec: { hard } });
  for (let tries = 0; tries < 100 && (await statusOf(namespace, from)).hard === undefined; tries += 1) await sleep(20);
  assert.deepEqual((await statusOf(namespace, from)).hard, hard);
  return namespace;
}

test('a new quota counts what exists, and a changed limit is observed', async () => {
  const namespace = await client.namespace();
  await client.pod(namespace);
  const path = core(namespace, 'resourcequotas');
  await client.make(path, {
    metadata: { name: 'q' },
    spec: { hard: { pods: '1', resourcequotas: '5', 'example.com/x': '1' } },
  });
  await untilUsed(namespace, { pods: '1', resourcequotas: '1' });
  expect(await client.post(core(namespace, 'pods'), aPod('p')), 403);
  expect(await client.patch(`${path}/q`, mergePatch, { spec: { hard: { pods: '2', resourcequotas: null } } }), 200);
  await untilUsed(namespace, { pods: '1' });
  expect(await client.post(core(namespace, 'pods'), aPod('p')), 201);
});

test('pods that end or are deleted are no longer counted, at once for requests and soon in the status', async () => {
  const namespace = await quota({ 'count/pods': '9', pods: '1' });
  const pod = await client.pod(namespace);
  expect(await client.post(core(namespace, 'pods'), aPod('p')), 403);
  expect(await client.patch(`${podPath(pod)}/status`, mergePatch, { status: { phase: 'Succeeded' } }), 200);
  const next = await client.pod(namespace);
  await untilUsed(namespace, { 'count/pods': '2', pods: '1' });
  expect(await client.delete(podPath(next)), 200);
  await untilUsed(namespace, { 'count/pods': '1', pods: '0' });
});

test('a pod whose grace period is over is not counted, though it is still stored', async () => {
  const namespace = await quota({ pods: '1' });
  const pod = await client.pod(namespace, { spec: { nodeName: 'n1' } });
  expect(await client.delete(podPath(pod), { gracePeriodSeconds: 1 }), 200);
  expect(await client.post(core(namespace, 'pods'), aPod('p')), 403);
  await untilUsed(namespace, { pods: '1' });
  await sleep(2_000);
  await untilUsed(namespace, { pods: '0' });
  await client.pod(namespace);
});

test('of requests at the same time, as many succeed as there are places', async () => {
  const namespace = await quota({ pods: '5' });
  const made = Array.from({ length: 30 }, (_, index) => client.post(core(namespace, 'pods'), aPod(`p${index}`)));
  const codes = (await Promise.all(made)).map(({ code }) => code);
  assert.deepEqual([codes.filter((code) => code === 201).length, codes.filter((code) => code === 403).length], [5, 25]);
  assert.deepEqual((await statusOf(namespace)).used, { pods: '5' });
});

test('a status that is wrong neither blocks nor admits, and is corrected', async () => {
  const namespace = await quota({ pods: '2' });
  await client.pod(namespace);
  const path = `${core(namespace, 'resourcequotas')}/q/status`;
  expect(await client.patch(path, mergePatch, { status: { used: { pods: '2' } } }), 200);
  await client.pod(namespace);
  expect(await client.patch(path, mergePatch, { status: { used: { pods: '0' } } }), 200);
  expect(await client.post(core(namespace, 'pods'), aPod('p')), 403);
  await untilUsed(namespace, { pods: '2' });
});

/** Runs servers on one folder, one after the other. */
function restarts() {
  const folder = tempFolder();
  return async <T>(use: (client: Client) => Promise<T>): Promise<T> => {
    const dataDir = await DataDir.open(folder, silentLogger);
    const restarted = new Client(await embeddedBackend({ controllers: ['resourcequota-controller'], dataDir }));
    try {
      return await use(restarted);
    } finally {
      await restarted.close();
      dataDir.close();
    }
  };
}

test('a quota does not keep a server with a data dir from starting', async () => {
  const run = restarts();
  const path = core('default', 'services');
  await run(async (first) => {
    await first.make(core('default', 'resourcequotas'), { metadata: { name: 'q' }, spec: { hard: { services: '0' } } });
    await untilUsed('default', { services: '1' }, first);
    expect(await first.delete(`${path}/kubernetes`), 200);
  });
  await run(async (second) => {
    expect(await second.get(`${path}/kubernetes`), 200);
    await untilUsed('default', { services: '1' }, second);
    expect(await second.post(path, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }), 403);
  });
});

test('a resource that is one of pods and of claims by its name is added up', async () => {
  const name = 'requests.fast.storageclass.storage.k8s.io/persistentvolumeclaims';
  const namespace = await quota({ [name]: '1' });
  const path = core(namespace, 'persistentvolumeclaims');
  const claim = (id: string): Json => ({
    metadata: { name: id },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'requests.fast',
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await client.make(path, claim('a'));
  expect(await client.post(path, claim('b')), 403);
  await untilUsed(namespace, { [name]: '1' });
});

test('no quantity makes a pod cost nothing, or less', async () => {
  const namespace = await quota({ 'requests.cpu': '1' });
  for (const [cpu, code] of [
    ['-1', 422],
    ['1e1000000000', 403],
  ] as const) {
    const resources = { requests: { cpu } };
    const ofPod = { resources, containers: [{ name: 'c', image: 'registry/image:1' }] };
    const ofContainer = { containers: [{ name: 'c', image: 'registry/image:1', resources }] };
    for (const spec of [ofPod, ofContainer])
      expect(await client.post(core(namespace, 'pods'), aPod('p', { spec })), code);
  }
  await untilUsed(namespace, { 'requests.cpu': '0' });
});

test('a restart with a data dir goes on limiting', async () => {
  const run = restarts();
  const namespace = await run(async (first) => {
    const made = await quota({ pods: '1' }, first);
    await first.pod(made);
    return made;
  });
  await run(async (second) => {
    const refused = expect(await second.post(core(namespace, 'pods'), aPod('p')), 403);
    assert.equal(
      refused.message,
      'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    );
  });
});
