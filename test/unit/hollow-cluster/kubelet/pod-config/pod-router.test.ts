import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podInformer } from '../../../../../src/hollow-cluster/kubelet/fleet/fleet-informers.ts';
import { PodRouter } from '../../../../../src/hollow-cluster/kubelet/pod-config/pod-router.ts';
import { aPod } from '../../../../support/builders.ts';
import { ManualClock, settled } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../../../support/fakes.ts';

describe('one pod informer shared by many nodes', () => {
  function aWorld() {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const dependencies = {
      api,
      clock,
      random: new SeededRandom(1),
      logger: new RecordingLogger(),
      meter: new RecordingMeter(),
    };
    const informer = podInformer(dependencies);
    const router = new PodRouter(informer);
    const life = new AbortController();
    const create = (name: string, nodeName?: string) =>
      api.create('pods', aPod(name, { spec: nodeName === undefined ? {} : { nodeName } }));
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

  it('finds pods by their node after the initial list', async () => {
    const { create, router, start } = aWorld();
    await create('mine', 'a');
    await create('other', 'b');
    await create('nobodys');
    assert.equal(router.hasSynced(), false);
    const stop = await start();
    assert.equal(router.hasSynced(), true);
    const seen = router.podsOn('a').map((pod) => pod.metadata.name);
    assert.deepEqual(seen, ['mine']);
    await stop();
  });

  it('notifies only the node of a changed pod', async () => {
    const { api, create, router, start, signal } = aWorld();
    const stop = await start();
    const received: string[] = [];
    const leave = router.onNode('a', ({ kind, object }) => received.push(`${kind} ${object.metadata.name}`));
    await create('other', 'b');
    const mine = await create('mine', 'a');
    await settled();
    assert.deepEqual(received, ['added mine']);
    const uid = mine.metadata.uid ?? '';
    await api.delete('pods', { namespace: 'default', name: 'mine' }, { uid, gracePeriodSeconds: 0, signal });
    await settled();
    assert.deepEqual(received, ['added mine', 'deleted mine']);
    leave();
    await create('late', 'a');
    await settled();
    assert.equal(received.length, 2);
    await stop();
  });

  it('keeps the current listener of a node when an older one unsubscribes later', async () => {
    const { create, router, start } = aWorld();
    const stop = await start();
    const received: string[] = [];
    const leave = router.onNode('a', () => received.push('first'));
    router.onNode('a', () => received.push('second'));
    leave();
    await create('mine', 'a');
    await settled();
    assert.deepEqual(received, ['second']);
    await stop();
  });
});
