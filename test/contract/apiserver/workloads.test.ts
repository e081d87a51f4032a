/** Defaults, generations, scale and tables of the resources that kube-controller-manager works with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from '../../support/by-version.ts';
import { expect, type Json, jsonPatch, mergePatch, openClient, strategicPatch, tableAccept } from './client.ts';

const client = await openClient();
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example/web:1' }] } };
const selector = { matchLabels: labels };

function collectionOf(group: string, plural: string, namespace: string): string {
  return `${group === '' ? '/api' : `/apis/${group}`}/v1/namespaces/${namespace}/${plural}`;
}

async function make(
  group: string,
  plural: string,
  spec: Json,
): Promise<{ readonly path: string; readonly object: Json }> {
  const collection = collectionOf(group, plural, await client.namespace());
  const object = await client.make(collection, { metadata: { name: client.name('o') }, spec });
  return { path: `${collection}/${object.metadata.name}`, object };
}

test('the Service kubernetes exists from the start', async () => {
  const { metadata, spec } = expect(await client.get('/api/v1/namespaces/default/services/kubernetes'), 200);
  assert.deepEqual(metadata.labels, { component: 'apiserver', provider: 'kubernetes' });
  assert.deepEqual([spec.type, spec.ports[0].name, spec.ports[0].port], ['ClusterIP', 'https', 443]);
  assert.match(spec.clusterIP, /\.0\.1$/);
  assert.deepEqual([spec.clusterIPs, spec.ipFamilies], [[spec.clusterIP], ['IPv4']]);
});

test('a Deployment gets the defaults of upstream, and a generation that follows its spec', async () => {
  const { path, object } = await make('apps', 'deployments', { selector, template });
  const { replicas, strategy, revisionHistoryLimit, progressDeadlineSeconds } = object.spec;
  assert.deepEqual(
    { replicas, strategy, revisionHistoryLimit, progressDeadlineSeconds },
    {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  );
  assert.equal(object.spec.template.spec.restartPolicy, 'Always');
  assert.equal(object.metadata.generation, 1);
  const labelled = expect(await client.patch(path, mergePatch, { metadata: { labels } }), 200);
  assert.equal(labelled.metadata.generation, 1);
  const status = expect(
    await client.patch(`${path}/status`, mergePatch, { status: { replicas: 1 }, spec: { replicas: 9 } }),
    200,
  );
  assert.deepEqual([status.spec.replicas, status.status.replicas, status.metadata.generation], [1, 1, 1]);
  const changed = expect(
    await client.patch(path, mergePatch, { spec: { paused: true }, status: { replicas: 9 } }),
    200,
  );
  assert.deepEqual([changed.metadata.generation, changed.status.replicas], [2, 1]);
});

test('T134 scale reads and writes the replicas', async () => {
  const { path } = await make('apps', 'deployments', { replicas: 2, selector, template });
  const scale = expect(await client.get(`${path}/scale`), 200);
  assert.deepEqual([scale.kind, scale.apiVersion, scale.spec], ['Scale', 'autoscaling/v1', { replicas: 2 }]);
  assert.equal(scale.status.selector, 'app=web');
  const patched = expect(await client.patch(`${path}/scale`, mergePatch, { spec: { replicas: 5 } }), 200);
  assert.equal(patched.spec.replicas, 5);
  const { spec, metadata } = expect(await client.get(path), 200);
  assert.deepEqual([spec.replicas, metadata.generation], [5, 2]);
  const body = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: scale.metadata, spec: { replicas: 7 } };
  expect(await client.put(`${path}/scale`, body), 409);
  const { resourceVersion: _version, ...unversioned } = scale.metadata;
  expect(await client.put(`${path}/scale`, { ...body, metadata: unversioned }), 200);
  assert.equal(expect(await client.get(path), 200).spec.replicas, 7);
});

test('a StatefulSet gets the defaults of upstream', async () => {
  const rollingUpdate = { partition: 0, ...byVersion({ '1.34': {}, '1.37': { maxUnavailable: 1 } }) };
  const ordered = (await make('apps', 'statefulsets', { serviceName: 'web', selector, template })).object.spec;
  assert.deepEqual(
    [ordered.replicas, ordered.podManagementPolicy, ordered.updateStrategy],
    [1, 'OrderedReady', { type: 'RollingUpdate', rollingUpdate }],
  );
});

/** Names of the columns, and the cells of the row without the age. */
async function printed(path: string): Promise<{ readonly columns: string; readonly cells: readonly unknown[] }> {
  const table = expect(await client.get(path, { accept: tableAccept }), 200);
  const shown = table.columnDefinitions.map(({ priority, name }: Json) => (priority === 0 ? name : `(${name})`));
  const cells = table.rows[0].cells.filter((_: unknown, index: number) => shown[index] !== 'Age');
  return { columns: shown.join(' | '), cells };
}

test('kubectl get prints the columns of kube-apiserver', async () => {
  const web = await make('apps', 'deployments', { replicas: 2, selector, template });
  const status = { replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 };
  expect(await client.patch(`${web.path}/status`, mergePatch, { status }), 200);
  assert.deepEqual(await printed(web.path), {
    columns: 'Name | Ready | Up-to-date | Available | Age | (Containers) | (Images) | (Selector)',
    cells: [web.object.metadata.name, '1/2', 2, 1, 'main', 'registry.example/web:1', 'app=web'],
  });
  const ordered = await make('apps', 'statefulsets', { serviceName: 'web', replicas: 3, selector, template });
  assert.deepEqual(await printed(ordered.path), {
    columns: 'Name | Ready | Age | (Containers) | (Images)',
    cells: [ordered.object.metadata.name, '0/3', 'main', 'registry.example/web:1'],
  });
  const set = await make('apps', 'replicasets', { replicas: 3, selector, template });
  const setCells = [set.object.metadata.name, 3, 0, 0, 'main', 'registry.example/web:1', 'app=web'];
  const setColumns = 'Name | Desired | Current | Ready | Age | (Containers) | (Images) | (Selector)';
  assert.deepEqual(await printed(set.path), { columns: setColumns, cells: setCells });
  const budget = await make('policy', 'poddisruptionbudgets', { minAvailable: '50%', selector });
  assert.deepEqual(await printed(budget.path), {
    columns: 'Name | Min Available | Max Unavailable | Allowed Disruptions | Age',
    cells: [budget.object.metadata.name, '50%', 'N/A', 0],
  });
});

test('a strategic merge patch changes one container of a Deployment; a JSON patch that fails says only that', async () => {
  const main = { ...template.spec.containers[0], ports: [{ containerPort: 80, protocol: 'TCP' }] };
  const containers = [main, { ...main, name: 'side', ports: [] }];
  const web = await make('apps', 'deployments', { selector, template: { ...template, spec: { containers } } });
  const image = { spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.example/web:2' }] } } } };
  const patched = expect(await client.patch(web.path, strategicPatch, image), 200);
  const seen = patched.spec.template.spec.containers.map(
    ({ name, image: of, ports }: { name: string; image: string; ports?: readonly { containerPort: number }[] }) =>
      `${name} ${of} ${ports?.[0]?.containerPort ?? '-'}`,
  );
  assert.deepEqual(seen, ['main registry.example/web:2 80', 'side registry.example/web:1 -']);
  const failed = await client.patch(web.path, jsonPatch, [{ op: 'test', path: '/metadata/name', value: 'other' }]);
  assert.deepEqual(
    [failed.code, failed.body.message, failed.body.reason],
    [422, 'the server rejected our request due to an error in our request', 'Invalid'],
  );
});

test('a number of surplus pods beyond 32 bits is rejected', async () => {
  const collection = collectionOf('apps', 'deployments', await client.namespace());
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3_000_000_000 } };
  const body = { metadata: { name: client.name('o') }, spec: { selector, template, strategy } };
  const { message } = expect(await client.post(collection, body), 400);
  assert.match(message, /maxSurge: must be an integer of 32 bits|cannot unmarshal number 3000000000/);
});
