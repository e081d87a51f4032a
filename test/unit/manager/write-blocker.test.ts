import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { WriteBlocker } from '../../../src/manager/write-blocker.ts';

const signal = AbortSignal.timeout(1_000);

test('in shadow mode reads pass, writes are blocked, and an attempt to write fails the readiness check', async () => {
  const blocker = new WriteBlocker();
  const node = { metadata: { name: 'n' } };
  const api = blocker.readingOnly({ get: () => Promise.resolve(node) });
  assert.equal(await api.get('nodes', { name: 'n' }, { signal }), node);
  assert.equal(blocker.check().problem(), undefined);
  const refused = (error: unknown): boolean => error instanceof ApiError && error.reason === 'aborted';
  await assert.rejects(api.patch('nodes', { name: 'n' }, { type: 'merge', body: {} }, { signal }), refused);
  await assert.rejects(api.delete('pods', { namespace: 'd', name: 'p' }, { uid: 'u', signal }), refused);
  assert.equal(blocker.mayWrite(), false);
  assert.equal(blocker.check().problem(), '3 writes were attempted; none was sent');
});
