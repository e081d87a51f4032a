import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import { podInformer } from '../../../../src/kubelet/fleet-informers.ts';
import { Link } from '../../../../src/kubelet/link.ts';
import { ApiSource } from '../../../../src/kubelet/pod-config/api-source.ts';
import { PodRouter } from '../../../../src/kubelet/pod-config/pod-router.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { MemoryApi } from '../../../support/memory-api.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../../support/quiet.ts';

describe('pods from the API server', () => {
  function aWorld() {
    const clock = new ManualClock();
    const api = new MemoryApi(clock);
    const means = { api, clock, random: new SeededRandom(1), logger: new KeepingLogger(), meter: new KeepingMeter() };
    const informer = podInformer(means);
    const router = new PodRouter(informer);
    const life = new AbortController();
    const cable = new Link({ api, clock, requestTimeoutMs: 1_000 });
    const source = new ApiSource({ nodeName: 'a', router, cable });
    const create = (name: string, nodeName?: string) => api.create('pods', aPod(name, nodeName));
    const seen = () => source.look()?.map((pod) => pod.metadata.name);
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
    return { api, cable, source, create, seen, start, signal: life.signal };
  }

  it('are unknown until the first complete state, then those bound to the node', async () => {
    const { create, seen, start } = aWorld();
    await create('mine', 'a');
    await create('theirs', 'b');
    await create('nobodys');
    assert.equal(seen(), undefined);
    const stop = await start();
    assert.deepEqual(seen(), ['mine']);
    await stop();
  });

  it('ring for changes on this node and for no others', async () => {
    const { api, create, source, start, signal } = aWorld();
    const stop = await start();
    let rung = 0;
    const leave = source.onChange(() => rung++);
    await create('theirs', 'b');
    await settled();
    assert.equal(rung, 0);
    const mine = await create('mine', 'a');
    await settled();
    assert.equal(rung, 1);
    const uid = mine.metadata.uid ?? '';
    await api.delete('pods', { namespace: 'default', name: 'mine' }, { uid, gracePeriodSeconds: 0, signal });
    await settled();
    assert.equal(rung, 2);
    leave();
    await create('late', 'a');
    await settled();
    assert.equal(rung, 2);
    await stop();
  });

  it('cannot be seen while the cable is out, and ring when it is in again', async () => {
    const { cable, create, seen, source, start } = aWorld();
    const stop = await start();
    let rung = 0;
    source.onChange(() => rung++);
    cable.cut();
    await create('mine', 'a');
    await settled();
    assert.equal(seen(), undefined);
    rung = 0;
    cable.restore();
    assert.equal(rung, 1);
    assert.deepEqual(seen(), ['mine']);
    await stop();
  });
});

function aPod(name: string, nodeName: string | undefined): Pod {
  return { metadata: { name, namespace: 'default' }, spec: nodeName === undefined ? {} : { nodeName } };
}
