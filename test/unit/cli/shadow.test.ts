import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/api/api-error.ts';
import { ShutDoor, shadowRoute, silentRecorder } from '../../../src/cli/shadow.ts';

const signal = AbortSignal.timeout(1_000);

test('behind the shut door there is reading alone, and whoever tries to write is found out', async () => {
  const door = new ShutDoor();
  const node = { metadata: { name: 'n' } };
  const api = door.readingOnly({ get: () => Promise.resolve(node) });
  assert.equal(await api.get('nodes', { name: 'n' }, { signal }), node);
  assert.equal(door.check().problem(), undefined);
  const refused = (error: unknown): boolean => error instanceof ApiError && error.reason === 'aborted';
  await assert.rejects(api.patch('nodes', { name: 'n' }, { type: 'merge', body: {} }, { signal }), refused);
  await assert.rejects(api.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal }), refused);
  assert.equal(door.mayWrite(), false);
  assert.equal(door.check().problem(), '3 writes were tried, and none was sent');
  silentRecorder.record({
    about: { apiVersion: 'v1', kind: 'Node', name: 'n' },
    type: 'Normal',
    reason: 'R',
    message: 'nobody hears it',
  });
});

test('a controller that acts says that it compares nothing', async () => {
  const answer = await shadowRoute(() => undefined).answer(new URL('http://h/shadow'));
  assert.equal(answer.status, 404);
  assert.match(answer.body, /runs with --shadow/);
});
