/** Kinds that the embedded server only stores (decision 0074): names, types and fields are checked, nothing is added. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only } from './backend.ts';
import { expect, type Json, mergePatch, openClient, tableAccept } from './client.ts';

const client = await openClient();
const skip = only('embedded', 'a real kube-apiserver has rules for these kinds');
const template = { metadata: { labels: { app: 'a' } }, spec: {} };

const rows: Readonly<Record<string, Json>> = {
  'api/v1 services': { spec: { ports: [{ port: 80, targetPort: 80 }] } },
  'api/v1 secrets': { data: { a: 'YQ==' } },
  'api/v1 endpoints': { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] },
  'api/v1 persistentvolumeclaims': { spec: { volumeName: 'a' } },
  'api/v1 podtemplates': { template },
  'api/v1 replicationcontrollers': { spec: { template } },
  'api/v1 resourcequotas': { spec: { hard: { pods: '1' } } },
  'apis/batch/v1 jobs': { spec: { template } },
  'apis/batch/v1 cronjobs': { spec: { schedule: 'never', jobTemplate: { spec: { template } } } },
  'apis/autoscaling/v2 horizontalpodautoscalers': {
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'A', name: 'a' } },
  },
  'apis/networking.k8s.io/v1 networkpolicies': { spec: { podSelector: { matchLabels: { app: 'a' } } } },
  'apis/discovery.k8s.io/v1 endpointslices': { addressType: 'IPv4' },
};

/** The fields beside metadata. */
function fieldsOf({ kind: _kind, apiVersion: _version, metadata: _metadata, ...fields }: Json): Json {
  return fields;
}

for (const [row, fields] of Object.entries(rows)) {
  test(`an object of ${row} is stored as it was sent, without defaults`, { skip }, async () => {
    const [version, plural] = row.split(' ');
    const collection = `/${version}/namespaces/${await client.namespace()}/${plural}`;
    const path = `${collection}/a`;
    const made = await client.make(collection, { metadata: { name: 'a' }, ...fields });
    const { status: _status, ...stored } = fieldsOf(made);
    assert.deepEqual(withoutEmpty(stored), withoutEmpty(fields));
    const { metadata } = expect(await client.patch(path, mergePatch, { metadata: { labels: { a: 'b' } } }), 200);
    assert.deepEqual(metadata.labels, { a: 'b' });
    const table = expect(await client.get(collection, { accept: tableAccept }), 200);
    assert.deepEqual(
      [table.columnDefinitions.map(({ name }: Json) => name), table.rows[0].cells[0]],
      [['Name', 'Age'], 'a'],
    );
    const unknown = { metadata: { name: 'b' }, other: {} };
    expect(await client.post(`${collection}?fieldValidation=Strict`, unknown), 400);
    expect(await client.post(collection, { metadata: { name: 'b', labels: 'x' } }), 400);
    expect(await client.post(collection, { metadata: { name: 'B' } }), 422);
    expect(await client.delete(path), 200);
    expect(await client.get(path), 404);
  });
}

/** Structs that Go encodes although they are empty are no defaults. */
function withoutEmpty(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [key, withoutEmpty(field)] as const);
  return Object.fromEntries(entries.filter(([, field]) => field !== null && JSON.stringify(field) !== '{}'));
}

test('the status of a stored kind is written through /status only', { skip }, async () => {
  const collection = `/apis/batch/v1/namespaces/${await client.namespace()}/jobs`;
  await client.make(collection, { metadata: { name: 'a' }, spec: { template }, status: { active: 1 } });
  const status = expect(await client.patch(`${collection}/a/status`, mergePatch, { status: { active: 2 } }), 200);
  assert.deepEqual([status.status, status.metadata.generation], [{ active: 2 }, 1]);
  const change = { spec: { parallelism: 2 }, status: { active: 3 } };
  const changed = expect(await client.patch(`${collection}/a`, mergePatch, change), 200);
  assert.deepEqual([changed.status, changed.metadata.generation], [{ active: 2 }, 2]);
});
