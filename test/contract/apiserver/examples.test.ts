/** Objects of every kind, as kube-apiserver answers when they are created, changed and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, openClient } from './client.ts';
import { examples, keyOf } from './example-objects.ts';
import { runExample } from './example-run.ts';
import { recorded } from './recorded.ts';

const client = await openClient();
const answers = recorded('examples');

for (const example of examples) {
  test(`the answers of kube-apiserver: ${keyOf(example)}`, async () => {
    assert.deepEqual(await runExample(client, example), answers[keyOf(example)]);
  });
}

/** A new pod, as soon as it has that class; kube-apiserver sees a change of a class a little later. */
async function podOfClass(className: string | undefined): Promise<Json> {
  const namespace = await client.namespace();
  let spec: Json;
  for (let tries = 0; tries < 50; tries += 1) {
    ({ spec } = await client.pod(namespace, { spec: { serviceAccountName: 'default' } }));
    if (spec.priorityClassName === className) return spec;
    await sleep(100);
  }
  return spec;
}

test('a pod without a class has the priority of the default class, if there is one', async () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const name = client.name('default');
  await client.make(classes, { metadata: { name }, value: 7, preemptionPolicy: 'Never', globalDefault: true });
  try {
    const spec = await podOfClass(name);
    assert.deepEqual([spec.priorityClassName, spec.priority, spec.preemptionPolicy], [name, 7, 'Never']);
  } finally {
    await client.delete(`${classes}/${name}`);
  }
  const spec = await podOfClass(undefined);
  assert.deepEqual([spec.priorityClassName, spec.priority], [undefined, 0]);
});
