/** Namespaces that the API server needs are created again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only } from './backend.ts';
import { expect, openClient } from './client.ts';

const client = await openClient({ controllers: ['namespace-controller'] });

test('kube-node-lease is created again within a minute of its end, and holds leases again', {
  skip: only('embedded', 'the namespace controller of a real one is a program of its own'),
  timeout: 90_000,
}, async () => {
  const path = '/api/v1/namespaces/kube-node-lease';
  const { metadata } = expect(await client.get(path), 200);
  expect(await client.delete(path), 200);
  let uid = metadata.uid;
  while (uid === metadata.uid || uid === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    uid = (await client.get(path)).body.metadata?.uid;
  }
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  assert.equal((await client.post(leases, { metadata: { name: client.name('node') } })).code, 201);
});
