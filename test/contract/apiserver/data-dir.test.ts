/** A server that continues what an earlier one kept in its data dir. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import { DataDir } from '../../../src/hollow-cluster/apiserver/data-dir/data-dir.ts';
import { isDraft, StoredObject } from '../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { silentLogger } from '../../support/fakes.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { embeddedBackend } from './backend.ts';
import { Client, expect, type Json, mergePatch } from './client.ts';
import { examples } from './example-objects.ts';
import { type FormerObject, formerObjects, formerPod, undecodable } from './former-objects.ts';

const policies = '/apis/policy.node-lifecycle.dev/v1alpha1/nodelifecyclepolicies';

/** One run of a server on this folder. */
async function run<T>(
  folder: string,
  use: (client: Client, access: { readonly token: string; readonly ca: string | undefined }) => Promise<T>,
  options: Parameters<typeof embeddedBackend>[0] = {},
): Promise<T> {
  const dataDir = await DataDir.open(folder, silentLogger);
  const backend = await embeddedBackend({ ...options, dataDir });
  const client = new Client(backend);
  try {
    return await use(client, backend);
  } finally {
    await client.close();
    dataDir.close();
  }
}

test('a restart keeps objects with uid and version, custom ones too, and the kubeconfig stays valid', async () => {
  const folder = tempFolder();
  const before = await run(folder, async (client, access) => {
    const node = await client.node({ metadata: { labels: { zone: 'a' } } });
    const gone = await client.node();
    expect(await client.delete(`/api/v1/nodes/${gone.metadata.name}`), 200);
    const policy = await client.make(policies, {
      apiVersion: 'policy.node-lifecycle.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: 'edge' },
      spec: { nodeSelector: { matchLabels: { pool: 'edge' } } },
    });
    const changed = expect(
      await client.patch(`/api/v1/nodes/${node.metadata.name}`, mergePatch, { spec: { unschedulable: true } }),
      200,
    );
    const namespaces = expect(await client.get('/api/v1/namespaces'), 200);
    return { node: changed, policy, namespaces, access };
  });
  await run(folder, async (client, access) => {
    assert.deepEqual([access.token, access.ca], [before.access.token, before.access.ca]);
    const { name } = before.node.metadata;
    assert.deepEqual(expect(await client.get(`/api/v1/nodes/${name}`), 200), before.node);
    assert.deepEqual(expect(await client.get(`${policies}/edge`), 200), before.policy);
    const nodes = expect(await client.get('/api/v1/nodes?labelSelector=zone=a'), 200);
    assert.deepEqual(
      nodes.items.map(({ metadata }: Json) => metadata.name),
      [name],
    );
    assert.deepEqual(expect(await client.get('/api/v1/namespaces'), 200).items, before.namespaces.items);
    const next = await client.node();
    assert.equal(Number(next.metadata.resourceVersion), Number(nodes.metadata.resourceVersion) + 1);
  });
});

test('a restart keeps integers beyond 2^53 as they were sent', async () => {
  const folder = tempFolder();
  const tolerations = '[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9223372036854775807}]';
  const body = `{"metadata":{"name":"p"},"spec":{"tolerations":${tolerations},"containers":[{"name":"c","image":"i"}]}}`;
  await run(folder, async (client) => expect(await client.post('/api/v1/namespaces/default/pods', body), 201));
  await run(folder, async (client) => {
    const { text } = await client.get('/api/v1/namespaces/default/pods/p');
    assert.match(text, /"tolerationSeconds":9223372036854775807[,}]/);
  });
});

test('a watch continues from the last version before the restart, and an earlier one has expired', async () => {
  const folder = tempFolder();
  const [earlier, last] = await run(folder, async (client) => {
    const first = await client.node();
    const second = await client.node();
    return [first.metadata.resourceVersion, second.metadata.resourceVersion];
  });
  await run(folder, async (client) => {
    const watch = await client.watch(`/api/v1/nodes?resourceVersion=${last}`);
    const node = await client.node();
    const event = await watch.next();
    assert.deepEqual([event?.type, event?.object.metadata.name], ['ADDED', node.metadata.name]);
    const expired = await client.watch(`/api/v1/nodes?resourceVersion=${earlier}`);
    const error = await expired.next();
    assert.deepEqual([error?.type, error?.object.code, error?.object.reason], ['ERROR', 410, 'Expired']);
  });
});

test('events of an earlier run expire when their time is over', async () => {
  const folder = tempFolder();
  const clock = new SystemClock();
  const path = '/api/v1/namespaces/default/events';
  await run(folder, async (client) => {
    const involvedObject = { kind: 'Node', name: 'a' };
    await client.make(path, { metadata: { name: 'e1' }, involvedObject, reason: 'Old' });
  });
  const laterMs = 3_590_000;
  const later = { nowMs: () => clock.nowMs() + laterMs, monotonicMs: () => clock.monotonicMs() };
  const shifted = Object.assign(Object.create(clock) as SystemClock, later, { sleep: clock.sleep.bind(clock) });
  await run(
    folder,
    async (client) => {
      assert.equal(expect(await client.get(path), 200).items.length, 1);
    },
    { clock: shifted },
  );
  await run(
    folder,
    async (client) => {
      const untilMs = clock.monotonicMs() + 5_000;
      let left = 1;
      while (left > 0 && clock.monotonicMs() < untilMs) {
        left = expect(await client.get(path), 200).items.length;
        await clock.sleep(50, new AbortController().signal);
      }
      assert.equal(left, 0);
    },
    { clock: shifted, eventTtlMs: 3_580_000 },
  );
});

/** A data dir with rows that have exactly this JSON. */
async function folderOf(objects: readonly FormerObject[]): Promise<string> {
  const folder = tempFolder();
  const dataDir = await DataDir.open(folder, silentLogger);
  dataDir.begin(1_000);
  for (const [index, { table, content }] of objects.entries()) {
    const { name, namespace, uid } = content['metadata'];
    const revision = 1_001 + index;
    const kept = { ...content, metadata: { ...content['metadata'], resourceVersion: String(revision) } };
    assert.ok(isDraft(kept));
    const located = { key: `${namespace}/${name}`, namespace, name, uid, revision, labels: {}, fields: {} };
    dataDir.put(table, new StoredObject(located, kept));
  }
  dataDir.close();
  return folder;
}

/** Creates every example that is accepted; returns what is stored, by path. */
async function makeExamples(client: Client): Promise<ReadonlyMap<string, Json>> {
  const namespace = await client.namespace();
  const paths: string[] = [];
  for (const { version, plural, clusterScoped = false, body, change } of examples) {
    const collection = `/${version}/${clusterScoped ? '' : `namespaces/${namespace}/`}${plural}`;
    const path = `${collection}/${body.metadata.name}`;
    if ((await client.post(collection, body)).code !== 201) continue;
    if (change !== undefined) await client.patch(path, mergePatch, change);
    paths.push(path);
  }
  const answers = paths.map(async (path) => [path, (await client.get(path)).body] as const);
  return new Map(await Promise.all(answers));
}

test('a restart changes no object of any kind', async () => {
  const folder = tempFolder();
  const before = await run(folder, makeExamples);
  assert.ok(before.size > 12, String(before.size));
  await run(folder, async (client) => {
    for (const [path, object] of before) assert.deepEqual((await client.get(path)).body, object, path);
  });
});

test('objects of an earlier version can be changed: they have the form and the defaults of this version', async () => {
  const folder = await folderOf(formerObjects);
  await run(folder, async (client) => {
    for (const [index, { path, content }] of formerObjects.entries()) {
      const { metadata } = expect(await client.get(path), 200);
      const { uid, managedFields } = content['metadata'];
      assert.deepEqual([metadata.uid, metadata.resourceVersion], [uid, String(1_001 + index)], path);
      assert.deepEqual(metadata.managedFields, managedFields, path);
      expect(await client.patch(path, mergePatch, { metadata: { labels: { a: 'b' } } }), 200);
      const released = expect(await client.patch(path, mergePatch, { metadata: { finalizers: null } }), 200);
      assert.deepEqual([released.metadata.finalizers, released.metadata.uid], [undefined, uid], path);
    }
    const { spec } = expect(await client.get(formerPod.path), 200);
    assert.deepEqual(spec.containers[0].resources, { requests: { cpu: '500m', memory: '1Gi' } });
  });
});

test('an object that cannot be decoded stays as it was written', async () => {
  await run(await folderOf([undecodable, formerPod]), async (client) => {
    assert.deepEqual(expect(await client.get(undecodable.path), 200).data, ['x']);
    assert.equal(expect(await client.get(formerPod.path), 200).spec.containers[0].resources.requests.cpu, '500m');
  });
});
