import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import type { PodVerdict } from '../../../../src/kubelet/machine/pod-verdict.ts';
import { NodeWorld, type NodeWorldOptions } from '../node-status/node-world.ts';

const secondMs = 1_000;
const gibibyte = 1_024 ** 3;
const mebibyte = 1_024 ** 2;
const passAndCycleMs = 20.4 * secondMs;

interface Kill {
  readonly pod: string;
  readonly verdict: PodVerdict;
  readonly atMs: number;
}

function aPod(name: string, spec: Pod['spec'] & object = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: { containers: [{ name: 'main' }], ...spec },
  };
}

describe('a machine that is short of something', () => {
  let world: NodeWorld;
  let pods: Pod[];
  let kills: Kill[];

  afterEach(async () => {
    await world.stop();
  });

  async function settled(options: NodeWorldOptions = {}): Promise<void> {
    pods = [];
    kills = [];
    world = new NodeWorld({
      activePods: () => pods,
      kill: async (pod, verdict) => {
        kills.push({ pod: pod.metadata.name ?? '', verdict, atMs: world.clock.monotonicMs() });
        pods = pods.filter((other) => other !== pod);
      },
      isCleanedUp: (pod) => !pods.includes(pod),
      ...options,
    });
    await world.settle();
  }

  const signals = () => world.side.machine.signals;
  const status = (type: string) => world.condition(type)?.status;
  const told = (reason: string) => world.recorder.drafts.filter((draft) => draft.reason === reason);

  it('is under pressure from the next look on, with one event and a patch [B1]', async () => {
    await settled();
    signals().setShare('nodefs.available', 0.09);
    await world.clock.advance(10 * secondMs);
    assert.deepEqual([...world.side.pressure.conditions()], ['DiskPressure']);
    await world.clock.advance(10.4 * secondMs);
    const condition = world.condition('DiskPressure');
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.lastTransitionTime],
      ['True', 'KubeletHasDiskPressure', condition?.lastHeartbeatTime],
    );
    assert.deepEqual(told('NodeHasDiskPressure').length, 1);
    assert.deepEqual(world.times('patch', 'nodes').length, 1);
  });

  it('stays so for five minutes after it was last short [B2]', async () => {
    await settled();
    signals().setShare('nodefs.available', 0.09);
    await world.clock.advance(100 * secondMs);
    signals().setShare('nodefs.available', 0.5);
    await world.clock.advance(289 * secondMs);
    assert.deepEqual([...world.side.pressure.conditions()], ['DiskPressure'], 'held');
    assert.equal(status('DiskPressure'), 'True');
    await world.clock.advance(11 * secondMs + passAndCycleMs);
    assert.equal(status('DiskPressure'), 'False');
    assert.equal(told('NodeHasNoDiskPressure').length, 1);
  });

  it('is not when it is exactly at its threshold [B3]', async () => {
    await settled();
    signals().setShare('nodefs.available', 0.1);
    await world.clock.advance(passAndCycleMs);
    assert.equal(status('DiskPressure'), 'False');
    const { capacity = 0 } = signals().read(0).get('nodefs.available') ?? {};
    signals().set('nodefs.available', { available: Math.trunc(capacity * 0.1) - 1 });
    await world.clock.advance(passAndCycleMs);
    assert.equal(status('DiskPressure'), 'True');
  });

  const soft = {
    evictionSoft: { 'memory.available': '500Mi' },
    evictionSoftGracePeriodMs: { 'memory.available': 90 * secondMs },
    evictionMaxPodGracePeriodMs: 20 * secondMs,
  };

  it('is under pressure at once below a soft threshold, and evicts only after its grace period [B4]', async () => {
    await settled({ profile: soft });
    pods = [aPod('web', { terminationGracePeriodSeconds: 60 })];
    signals().set('memory.available', { available: 400 * mebibyte });
    await world.clock.advance(10 * secondMs);
    const firstSeenMs = world.clock.monotonicMs();
    assert.deepEqual([...world.side.pressure.conditions()], ['MemoryPressure']);
    await world.clock.advance(80 * secondMs);
    assert.equal(kills.length, 0);
    await world.clock.advance(10 * secondMs);
    assert.equal(kills.length, 1);
    assert.ok((kills[0]?.atMs ?? 0) - firstSeenMs >= 80 * secondMs);
    assert.equal(kills[0]?.verdict.graceMs, 20 * secondMs);
  });

  it('does not mind how many process ids are left unless it is told to [B5]', async () => {
    await settled();
    signals().set('pid.available', { available: 1 });
    await world.clock.advance(passAndCycleMs);
    assert.equal(status('PIDPressure'), 'False');
    await world.stop();
    await settled({ profile: { evictionHard: { 'pid.available': '5%' } } });
    signals().set('pid.available', { available: 1 });
    await world.clock.advance(passAndCycleMs);
    assert.equal(world.condition('PIDPressure')?.reason, 'KubeletHasInsufficientPID');
  });

  it('loses one pod at a look: the least important of those above their requests, never a critical one', async () => {
    await settled();
    pods = [
      aPod('critical', { priority: 2_000_000_000 }),
      aPod('modest', { containers: [{ name: 'main', resources: { requests: { memory: '2Gi' } } }] }),
      aPod('greedy', { containers: [{ name: 'main', resources: { requests: { memory: '1Gi' } } }] }),
    ];
    for (const { metadata } of pods)
      world.side.machine.setPodUsage(metadata.uid ?? '', { main: { memory: 2 * gibibyte } });
    signals().set('memory.available', { available: 50 * mebibyte });
    // The looks are at 20, 30 and so on; it is 15 now.
    await world.clock.advance(5.5 * secondMs);
    assert.deepEqual(
      kills.map(({ pod }) => pod),
      ['greedy'],
    );
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
      'Container main was using 2Gi, request is 1Gi, has larger consumption of memory. ';
    assert.deepEqual(kills[0]?.verdict, {
      reason: 'Evicted',
      message,
      condition: { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message },
      graceMs: 1_000,
      evicted: true,
    });
    assert.deepEqual(told('EvictionThresholdMet')[0], {
      about: { kind: 'Node', name: 'n1', uid: 'n1' },
      type: 'Warning',
      reason: 'EvictionThresholdMet',
      message: 'Attempting to reclaim memory',
    });
    assert.deepEqual(told('Evicted')[0]?.annotations, {
      offending_containers: 'main',
      offending_containers_usage: '2Gi',
      starved_resource: 'memory',
    });
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(
      kills.map(({ pod }) => pod),
      ['greedy', 'modest'],
      'and then there is nobody left',
    );
    assert.equal((kills[1]?.atMs ?? 0) - (kills[0]?.atMs ?? 0), 1_000, 'as soon as the first was gone');
  });

  it('waits half a minute for an evicted pod to be gone, and no longer', async () => {
    await settled({ isCleanedUp: () => false });
    pods = [aPod('a'), aPod('b')];
    signals().set('memory.available', { available: 0 });
    await world.clock.advance(45 * secondMs);
    assert.equal((kills[1]?.atMs ?? 0) - (kills[0]?.atMs ?? 0), 30_000);
  });

  it('throws away what it can before it takes a pod', async () => {
    await settled();
    pods = [aPod('web')];
    signals().setReclaimable('nodefs.available', 20 * gibibyte);
    signals().set('nodefs.available', { available: gibibyte });
    await world.clock.advance(40 * secondMs);
    assert.equal(told('EvictionThresholdMet').length, 1);
    assert.deepEqual(kills, []);
    assert.deepEqual([...world.side.pressure.conditions()], ['DiskPressure'], 'it was so all the same');
  });

  it('leaves a pod its own grace period in a kubelet of old', async () => {
    await settled({ profile: { kind: 'classic' } });
    pods = [aPod('web')];
    signals().set('memory.available', { available: 0 });
    await world.clock.advance(10 * secondMs);
    assert.equal(kills[0]?.verdict.graceMs, undefined);
  });

  it('acts upon a measurement once', async () => {
    await settled();
    pods = [aPod('a'), aPod('b')];
    const measuredAtMs = world.clock.monotonicMs();
    signals().set('memory.available', { available: 0, measuredAtMs });
    await world.clock.advance(60 * secondMs);
    assert.equal(kills.length, 1);
    signals().set('memory.available', { available: 0, measuredAtMs: measuredAtMs + 1 });
    await world.clock.advance(60 * secondMs);
    assert.equal(kills.length, 2);
  });

  it('counts as short until what was to be reclaimed is there', async () => {
    await settled({ profile: { evictionMinimumReclaim: { 'memory.available': '500Mi' } } });
    signals().set('memory.available', { available: 50 * mebibyte });
    await world.clock.advance(10 * secondMs);
    signals().set('memory.available', { available: 599 * mebibyte });
    await world.clock.advance(20 * secondMs);
    assert.equal(told('EvictionThresholdMet').length, 3);
    signals().set('memory.available', { available: 600 * mebibyte });
    await world.clock.advance(20 * secondMs);
    assert.equal(told('EvictionThresholdMet').length, 3);
  });

  it('outlives a pod that cannot be stopped', async () => {
    await settled({ kill: () => Promise.reject(new Error('stuck')) });
    pods = [aPod('web')];
    signals().set('memory.available', { available: 0 });
    await world.clock.advance(60 * secondMs);
    assert.ok(told('Evicted').length >= 2);
    assert.ok(world.logger.lines.some(({ message }) => message === 'an evicted pod could not be stopped'));
  });

  it('asks for nothing while nothing changes', async () => {
    await settled();
    await world.clock.advance(100 * secondMs);
    assert.equal(world.clock.sleeping, 2, 'the status and the lease');
    assert.equal(world.runtime.asked, 1, 'it answered well, and nothing has changed since');
  });
});
