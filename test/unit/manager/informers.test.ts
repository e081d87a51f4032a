import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { policyReader } from '../../../src/manager/informers.ts';
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
