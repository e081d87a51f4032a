import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type ApiErrorInit } from '../../../../src/api/api-error.ts';
import type { Status } from '../../../../src/api/meta.ts';
import type { KubeReader } from '../../../../src/ports/kube-reader.ts';
import { readNodePresence } from '../../../../src/controller/pod-gc/node-presence.ts';

const { signal } = new AbortController();

function ask(get: KubeReader['get']): ReturnType<typeof readNodePresence> {
  return readNodePresence({ get }, 'n1', signal);
}

function refused(init: ApiErrorInit): ReturnType<typeof readNodePresence> {
  return ask(() => Promise.reject(new ApiError(init)));
}

test('a node is found when the API server shows it, asked for live and by name', async () => {
  const asked: unknown[] = [];
  const presence = await ask((...args) => {
    asked.push(args);
    return Promise.resolve({ metadata: { name: 'n1' } });
  });
  assert.equal(presence, 'found');
  assert.deepEqual(asked, [['nodes', { name: 'n1' }, { signal }]]);
});

test('a node is gone only if the API server says so and names it', async () => {
  const status = (name: string): Status => ({ kind: 'Status', reason: 'NotFound', details: { name, kind: 'nodes' } });
  const notFound = { reason: 'not-found', message: 'nodes "n1" not found', code: 404 } as const;
  assert.equal(await refused({ ...notFound, status: status('n1') }), 'gone');
  assert.equal(await refused({ ...notFound, status: status('n2') }), 'unknown');
  assert.equal(await refused(notFound), 'unknown', 'a 404 of somebody in between');
});

test('no answer is no answer, and a mistake of ours is not one either', async () => {
  for (const reason of ['timeout', 'unavailable', 'aborted'] as const)
    assert.equal(await refused({ reason, message: reason }), 'unknown');
  for (const reason of ['forbidden', 'unauthorized'] as const)
    assert.equal(await refused({ reason, message: reason }), 'refused');
  await assert.rejects(
    ask(() => Promise.reject(new TypeError('broken'))),
    TypeError,
  );
});
