/** What a RuntimeClass adds to the pods that name it, and the pods that it rejects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, type ApiResponse, expect, type Json, openClient } from './client.ts';

const client = await openClient();
const classes = '/apis/node.k8s.io/v1/runtimeclasses';

async function makeClass(fields: Json): Promise<string> {
  const name = client.name('runtime');
  await client.make(classes, { metadata: { name }, handler: 'test', ...fields });
  return name;
}

async function createPod(runtimeClassName: string | undefined, spec: Json = {}): Promise<ApiResponse> {
  const pod = aPod(client.name('pod'), { spec: { ...spec, ...(runtimeClassName && { runtimeClassName }) } });
  return client.post(`/api/v1/namespaces/${await client.namespace()}/pods`, pod);
}

function assertForbidden(response: ApiResponse, why: string): void {
  const { message, details } = expect(response, 403);
  assert.equal(message, `pods "${details.name}" is forbidden: ${why}`);
}

test('a pod gets node selector and tolerations of its RuntimeClass, without those that others cover', async () => {
  const name = await makeClass({
    scheduling: {
      nodeSelector: { 'example.com/runtime': 'test', 'example.com/shared': 'yes' },
      tolerations: [
        { key: 'runtime', operator: 'Equal', value: 'test', effect: 'NoSchedule' },
        { key: 'other', operator: 'Exists' },
      ],
    },
  });
  const own = [
    { key: 'own', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'other', operator: 'Equal', value: 'x', effect: 'NoSchedule' },
  ];
  const pod = { nodeSelector: { 'example.com/shared': 'yes', disk: 'ssd' }, tolerations: own };
  const { spec } = expect(await createPod(name, pod), 201);
  assert.deepEqual(spec.nodeSelector, { disk: 'ssd', 'example.com/runtime': 'test', 'example.com/shared': 'yes' });
  assert.deepEqual(
    spec.tolerations.map(({ key }: Json) => key),
    ['own', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', 'runtime', 'other'],
  );
});

test('a node selector that contradicts the RuntimeClass is rejected', async () => {
  const name = await makeClass({ scheduling: { nodeSelector: { disk: 'ssd' } } });
  const why = 'conflict: runtimeClass.scheduling.nodeSelector[disk] = ssd; pod.spec.nodeSelector[disk] = hdd';
  assertForbidden(await createPod(name, { nodeSelector: { disk: 'hdd' } }), why);
});

test('the overhead of a pod is that of its RuntimeClass', async () => {
  const name = await makeClass({ overhead: { podFixed: { cpu: '250m', memory: '64Mi' } } });
  const { spec } = expect(await createPod(name), 201);
  assert.deepEqual(spec.overhead, { cpu: '250m', memory: '64Mi' });
  expect(await createPod(name, { overhead: { cpu: '0.25', memory: '64Mi' } }), 201);
  const differs = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
  assertForbidden(await createPod(name, { overhead: { cpu: '1' } }), differs);
  const without = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
  assertForbidden(await createPod(undefined, { overhead: { cpu: '1' } }), without);
});

test('a RuntimeClass that does not exist rejects the pod', async () => {
  assertForbidden(await createPod('missing'), 'pod rejected: RuntimeClass "missing" not found');
});
