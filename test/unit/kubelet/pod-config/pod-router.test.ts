import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { podInformer } from '../../../../src/kubelet/fleet-informers.ts';
import { PodRouter } from '../../../../src/kubelet/pod-config/pod-router.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../../support/quiet.ts';

describe('pods that many nodes share one informer for', () => {
  function aWorld() {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const means = { api, clock, random: new SeededRandom(1), logger: new KeepingLogger(), meter: new KeepingMeter() };
    const informer = podInformer(means);
    const router = new PodRouter(informer);
    const life = new AbortController();
    const create = (name: string, nodeName?: string) => api.create('pods', aPod(name, nodeName));
    async function start(): Promise<() => Promise<void>> {
      const disconnect = router.connect();
      const running = informer.run(life.signal);
      await settled();
      return async () => {
        disconnect();
        life.abort();
        await running;
      };
    }
    return { api, router, create, start, signal: life.signal };
  }

  it('are found by their node, from the first complete state on', async () => {
    const { create, router, start } = aWorld();
    await create('mine', 'a');
    await create('theirs', 'b');
    await create('nobodys');
    assert.equal(router.hasSynced(), false);
    const stop = await start();
    assert.equal(router.hasSynced(), true);
    assert.deepEqual(
      router.podsOn('a').map((pod) => pod.metadata.name),
      ['mine'],
    );
    await stop();
  });

  it('call their node with each change, and no other', async () => {
    const { api, create, router, start, signal } = aWorld();
    const stop = await start();
    const heard: string[] = [];
    const leave = router.onNode('a', ({ kind, object }) => heard.push(`${kind} ${object.metadata.name}`));
    await create('theirs', 'b');
    const mine = await create('mine', 'a');
    await settled();
    assert.deepEqual(heard, ['added mine']);
    const uid = mine.metadata.uid ?? '';
    await api.delete('pods', { namespace: 'default', name: 'mine' }, { uid, gracePeriodSeconds: 0, signal });
    await settled();
    assert.deepEqual(heard, ['added mine', 'deleted mine']);
    leave();
    await create('late', 'a');
    await settled();
    assert.equal(heard.length, 2);
    await stop();
  });

  it('call who listens for a node now, though somebody else leaves later', async () => {
    const { create, router, start } = aWorld();
    const stop = await start();
    const heard: string[] = [];
    const leave = router.onNode('a', () => heard.push('first'));
    router.onNode('a', () => heard.push('second'));
    leave();
    await create('mine', 'a');
    await settled();
    assert.deepEqual(heard, ['second']);
    await stop();
  });
});

function aPod(name: string, nodeName: string | undefined): Pod {
  return { metadata: { name, namespace: 'default' }, spec: nodeName === undefined ? {} : { nodeName } };
}
