import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { Pod } from '../../../../src/machinery/api/pod.ts';
import { SeededRandom } from '../../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import { appLabel } from '../../../../src/simulator/cluster/workload.ts';
import { SimulatedApiServer } from '../../../../src/simulator/server/api-server.ts';
import { Storage } from '../../../../src/simulator/server/storage.ts';
import { Timeline } from '../../../../src/simulator/time/timeline.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const by = { process: 'replica-1', client: 'main' };
const pod = { namespace: 'default', name: 'p1' };

function aServer(): { readonly server: SimulatedApiServer; readonly storage: Storage } {
  const random = new SeededRandom(1);
  const clock = new ManualClock();
  const storage = new Storage(clock, random);
  const timeline = new Timeline({ random, settle: (then) => setImmediate(then) });
  const server = new SimulatedApiServer({ name: 'server-1', storage, timeline, clock, random, lagMs: () => 0 });
  const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i:1' }] };
  const created: Pod = { metadata: { ...pod, labels: { [appLabel]: 'a' } }, spec };
  storage.create('pods', created);
  storage.merge('pods', pod, { status: { phase: 'Running' } }, 'status');
  return { server, storage };
}

async function evict({ server, storage }: ReturnType<typeof aServer>): Promise<number | undefined> {
  try {
    const uid = storage.get('pods', pod)?.metadata.uid ?? '';
    await server.evict(by, pod, { uid, signal: new AbortController().signal });
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? error.code : NaN;
  }
}

test('an eviction deletes a pod without a budget', async () => {
  const world = aServer();
  const { storage } = world;
  assert.equal(await evict(world), undefined);
  assert.notEqual(storage.get('pods', pod)?.metadata.deletionTimestamp, undefined);
});

test('a budget that allows nothing refuses it with 429, two with 500, and none of another app', async () => {
  const world = aServer();
  const { storage } = world;
  storage.createBudget('budget-1', { [appLabel]: 'b' }, 0);
  storage.createBudget('budget-2', {}, 0);
  assert.equal(await evict(world), 429);
  storage.createBudget('budget-3', { [appLabel]: 'a' }, 1);
  assert.equal(await evict(world), 500);
  storage.deleteBudget('budget-2');
  assert.equal(await evict(world), undefined);
});

test('a webhook changes the patches of the controller only', async () => {
  const { server, storage } = aServer();
  const remove = storage.addWebhook(() => ({ metadata: {} }));
  const patch = { type: 'merge', body: { metadata: { labels: { patched: 'yes' } } } } as const;
  const patchedBy = async (process: string): Promise<string | undefined> => {
    const { metadata } = await server.patch({ ...by, process }, 'pods', pod, patch);
    return metadata.labels?.['patched'];
  };
  assert.equal(await patchedBy('replica-1'), undefined);
  assert.equal(await patchedBy('fleet'), 'yes');
  remove();
});
