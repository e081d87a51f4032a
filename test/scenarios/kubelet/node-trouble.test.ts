import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { PodSpec } from '../../../src/machinery/api/pod.ts';
import { systemCriticalPriority } from '../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import { FleetWorld } from '../../support/fleet-world.ts';
import { KubeletWorld, type KubeletWorldOptions, secondMs } from '../../support/kubelet-world.ts';

describe('pods on a hollow kubelet whose node has problems', () => {
  let world: KubeletWorld;

  async function begin(options?: KubeletWorldOptions): Promise<void> {
    world = new KubeletWorld(options);
    await world.advance(5 * secondMs);
  }

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'no pending sleeps after the end');
    assert.deepEqual(world.logger.at('error'), []);
  });

  /** Times on the monotonic clock at which this event was recorded during `ms`. */
  async function timesOf(reason: string, forMs: number): Promise<readonly number[]> {
    const times: number[] = [];
    const stepMs = 50;
    for (let passedMs = 0; passedMs < forMs; passedMs += stepMs) {
      const before = world.events(reason).length;
      await world.advance(stepMs);
      for (let events = before; events < world.events(reason).length; events += 1)
        times.push(world.clock.monotonicMs());
    }
    return times;
  }

  it('wait for the network and are retried about every second, except for those on the host network [B10]', async () => {
    await begin();
    const message = 'cni config uninitialized';
    world.kubelet.host.faults.set({ network: { ok: false, reason: 'NetworkPluginNotReady', message } });
    await world.advance(20 * secondMs);
    const said = `container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:${message}`;
    const ready = world.node()?.status?.conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.message], ['False', said]);
    const web = await world.bind('web');
    await world.bind('host', { hostNetwork: true });
    const times = await timesOf('NetworkNotReady', 20 * secondMs);
    assert.equal(world.phase('host'), 'Running', 'the sync loop keeps running');
    assert.deepEqual([world.phase('web'), world.running(web.metadata.uid)], ['Pending', 0]);
    // A retry is due after 1 to 1.5 s, and runs at the next tick of a second.
    const gapsMs = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    assert.ok(gapsMs.length >= 7, `${gapsMs.length} tries`);
    for (const gapMs of gapsMs) assert.ok(gapMs >= secondMs && gapMs <= 2.5 * secondMs, `${gapMs} ms`);
    assert.deepEqual(new Set(world.events('NetworkNotReady')), new Set([`network is not ready: ${said}`]));
    world.kubelet.host.faults.clear();
    await world.advance(10 * secondMs);
    assert.equal(world.phase('web'), 'Running');
  });

  it('are rejected during a shutdown: the pod has failed with the reason, and never runs [B18]', async () => {
    await begin({
      profile: { shutdownGracePeriodMs: 30 * secondMs, shutdownGracePeriodCriticalPodsMs: 10 * secondMs },
    });
    await world.bind('old', { terminationGracePeriodSeconds: 60 });
    await world.advance(5 * secondMs);
    const over = world.kubelet.node.shutdown.begin(world.signal);
    const late = await world.bind('late', {}, { generation: 1 });
    await world.advance(secondMs);
    const { startTime: _startTime, ...status } = world.pod('late')?.status ?? {};
    assert.deepEqual(status, {
      phase: 'Failed',
      reason: 'NodeShutdown',
      message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
      observedGeneration: 1,
    });
    assert.deepEqual(world.events('NodeShutdown'), ['Pod was rejected as the node is shutting down.']);
    await world.advance(60 * secondMs);
    await over;
    assert.deepEqual([world.phase('late'), world.running(late.metadata.uid)], ['Failed', 0]);
  });

  it('are rejected under memory pressure unless they have requests or are critical [B20]', async () => {
    await begin();
    world.kubelet.health.signals.setShare('memory.available', 0.001);
    await world.advance(20 * secondMs);
    // The condition is held for five minutes, and no pod is evicted any more.
    world.kubelet.health.signals.clear('memory.available');
    await world.advance(10 * secondMs);
    const pressed = world.node()?.status?.conditions?.filter(({ status }) => status === 'True');
    const types = pressed?.map(({ type }) => type);
    assert.deepEqual(types, ['MemoryPressure', 'Ready']);
    const asking: PodSpec = { containers: [{ name: 'c', image: 'i', resources: { requests: { memory: '10Mi' } } }] };
    const effortless = await world.bind('best-effort');
    await world.bind('burstable', asking);
    await world.bind('critical', { priority: systemCriticalPriority });
    await world.advance(15 * secondMs);
    const names = ['best-effort', 'burstable', 'critical'];
    const seen = names.map((name) => world.phase(name));
    assert.deepEqual(seen, ['Failed', 'Running', 'Running']);
    const { startTime: _startTime, ...status } = world.pod('best-effort')?.status ?? {};
    const message = 'Pod was rejected: The node had condition: [MemoryPressure]. ';
    assert.deepEqual(status, { phase: 'Failed', reason: 'Evicted', message });
    assert.deepEqual(world.events('Evicted'), ['The node had condition: [MemoryPressure]. ']);
    assert.equal(world.running(effortless.metadata.uid), 0);
  });
});

describe('a custom condition of a hollow node, with the node controller', () => {
  it('keeps its status when the controller sets all others to Unknown [B14]', async () => {
    const world = new FleetWorld({ nodes: 3, controller: {} });
    await world.advance(30);
    world.fleet.kubelet('n1')?.health.setCondition('DiskMountPressure', true);
    await world.advance(30);
    const conditions = (): Record<string, string> =>
      Object.fromEntries((world.node()?.status?.conditions ?? []).map(({ type, status }) => [type, status]));
    const others = { MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False', Ready: 'True' };
    assert.deepEqual(conditions(), { ...others, DiskMountPressure: 'True' });
    world.post({ kind: 'partition', direction: 'all', manner: 'silent' });
    await world.until('Unknown', 60, () => world.ready()?.status === 'Unknown');
    await world.advance(300);
    const unknown = Object.fromEntries(Object.keys(others).map((type) => [type, 'Unknown']));
    assert.deepEqual(conditions(), { ...unknown, DiskMountPressure: 'True' });
    assert.deepEqual([...world.taints()].sort(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
    assert.equal(await world.end(), 0, 'no pending sleeps after the end');
  });
});
