import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PodCache } from '../../../../../src/hollow-cluster/kubelet/pleg/pod-cache.ts';
import {
  RuntimeFailure,
  type RuntimePodStatus,
} from '../../../../../src/hollow-cluster/kubelet/runtime/pod-runtime.ts';
import { settled } from '../../../../support/manual-clock.ts';

const signal = new AbortController().signal;
const status = (uid: string, name: string): RuntimePodStatus => ({
  uid,
  namespace: 'ns',
  name,
  ips: [],
  containers: [],
});

/** The result of a wait so far: `waits`, the pod's name, or the error. */
async function lookAt(wait: Promise<RuntimePodStatus>): Promise<string> {
  const outcome = wait.then(
    ({ name }) => name,
    (error: unknown) => String(error),
  );
  return await Promise.race([outcome, settled().then(() => 'waits')]);
}

describe('the pod cache', () => {
  it('returns at once for an unknown pod, once everything has been listed [E7]', async () => {
    const cache = new PodCache();
    assert.equal(await lookAt(cache.newerThan('u', 0, signal)), 'waits');
    cache.advance(1);
    assert.deepEqual(await cache.newerThan('u', 0, signal), status('u', '') && { ...status('u', ''), namespace: '' });
    assert.deepEqual(cache.get('u').containers, []);
  });

  it('waits for a newer status, but not longer', async () => {
    const cache = new PodCache();
    cache.set('u', status('u', 'first'), 10);
    assert.equal(await lookAt(cache.newerThan('u', 9, signal)), 'first');
    const wait = cache.newerThan('u', 10, signal);
    cache.set('u', status('u', 'same moment'), 10);
    cache.advance(10);
    assert.equal(await lookAt(wait), 'waits');
    assert.equal(cache.waiting, 1);
    cache.set('other', status('other', 'other'), 12);
    assert.equal(await lookAt(wait), 'waits');
    cache.set('u', status('u', 'second'), 11);
    assert.equal(await lookAt(wait), 'second');
    assert.equal(cache.waiting, 0);
  });

  it('counts a relist of everything as newer for each pod', async () => {
    const cache = new PodCache();
    cache.set('u', status('u', 'first'), 10);
    const wait = cache.newerThan('u', 20, signal);
    cache.advance(21);
    assert.equal(await lookAt(wait), 'first');
    assert.equal(await lookAt(cache.newerThan('u', 20, signal)), 'first');
  });

  it('returns the error of an inspection until one succeeds', async () => {
    const cache = new PodCache();
    cache.set('u', new RuntimeFailure('no response'), 10);
    assert.throws(() => cache.get('u'), /no response/u);
    await assert.rejects(cache.newerThan('u', 5, signal), { message: 'no response' });
    cache.set('u', status('u', 'well'), 12);
    assert.equal(cache.get('u').name, 'well');
    cache.delete('u');
    assert.equal(cache.get('u').name, '');
  });

  it('removes a waiter whose signal aborts', async () => {
    const cache = new PodCache();
    const leave = new AbortController();
    const wait = cache.newerThan('u', 5, leave.signal);
    leave.abort();
    await assert.rejects(wait, RuntimeFailure);
    assert.equal(cache.waiting, 0);
    await assert.rejects(cache.newerThan('u', 5, leave.signal), RuntimeFailure);
  });
});
