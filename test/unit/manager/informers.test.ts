import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { NamespaceView } from '../../../src/machinery/api/namespace.ts';
import type { InformerStatus } from '../../../src/machinery/informer/informer.ts';
import { isAutonomous, policyReader } from '../../../src/manager/informers.ts';
import type { KubeReader } from '../../../src/machinery/ports/kube-reader.ts';

const { signal } = new AbortController();

function readerThatFails(error: Error): KubeReader {
  const fail = async (): Promise<never> => {
    throw error;
  };
  return policyReader({ get: fail, list: fail, watch: fail });
}

test('a 404 of lists and watches names the definition that is missing, and keeps the reason', async () => {
  const reader = readerThatFails(new ApiError({ reason: 'not-found', message: 'page not found', code: 404 }));
  for (const request of [
    reader.list('nodelifecyclepolicies', { signal }),
    reader.watch('nodelifecyclepolicies', { signal }),
  ])
    await assert.rejects(request, {
      reason: 'not-found',
      code: 404,
      message: /^the CustomResourceDefinition nodelifecyclepolicies\.policy\.node-lifecycle\.dev is not installed/u,
    });
});

test('any other error is passed on', async () => {
  const forbidden = new ApiError({ reason: 'forbidden', message: 'no' });
  await assert.rejects(readerThatFails(forbidden).list('nodelifecyclepolicies', { signal }), forbidden);
});

test('a namespace without the label in the cache does not ask, where the cache is known to be right', () => {
  const labelled: NamespaceView = { name: 'plant', uid: 'u', resourceVersion: '1' };
  const asks = (namespace: string, status: Partial<InformerStatus>, undecoded = ''): boolean | undefined => {
    const informer = {
      store: { get: (key: string) => (key === 'plant' ? labelled : undefined) },
      status: () => ({ synced: true, state: 'watching', lastFrameAtMs: 0, ...status }),
      isUndecoded: (key: string) => key === undecoded,
    } as unknown as Parameters<typeof isAutonomous>[1];
    return isAutonomous(namespace, informer, 40_000);
  };
  assert.deepEqual([asks('plant', {}), asks('shop', {})], [true, false]);
  assert.equal(asks('plant', { state: 'backing-off' }), true);
  assert.equal(asks('shop', { synced: false }), undefined, 'before the first list');
  assert.equal(asks('shop', { state: 'backing-off' }), undefined, 'no frame for 40 s');
  assert.equal(asks('shop', { state: 'backing-off', lastFrameAtMs: 15_000 }), false, 'opened again within moments');
  assert.equal(asks('shop', {}, 'shop'), undefined, 'its last state could not be decoded');
});
