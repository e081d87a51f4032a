import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import type { PodTermination } from '../../../../../src/hollow-cluster/kubelet/machine/pod-termination.ts';
import { aPod as aPodOf } from '../../../../support/builders.ts';
import { NodeWorld, type NodeWorldOptions } from '../../../../support/node-world.ts';

const secondMs = 1_000;
const mebibyte = 1_024 ** 2;
const passAndCycleMs = 20.4 * secondMs;

interface Kill {
  readonly pod: string;
  readonly termination: PodTermination;
  readonly atMs: number;
}

const aPod = (name: string, spec: Pod['spec'] = {}): Pod =>
  aPodOf(name, { spec: { containers: [{ name: 'main' }], ...spec } });

describe('a machine under resource pressure', () => {
  let world: NodeWorld;
  let pods: Pod[];
  let kills: Kill[];

  afterEach(() => world.stop());

  async function settled(options: NodeWorldOptions = {}): Promise<void> {
    pods = [];
    kills = [];
    world = new NodeWorld({
      activePods: () => pods,
      kill: async (pod, termination) => {
        kills.push({ pod: pod.metadata.name ?? '', termination, atMs: world.clock.monotonicMs() });
        pods = pods.filter((other) => other !== pod);
      },
      isCleanedUp: (pod) => !pods.includes(pod),
      ...options,
    });
    await world.settle();
  }

  const signals = () => world.side.machine.signals;
  const status = (type: string) => world.condition(type)?.status;
  const events = (reason: string) => world.recorder.drafts.filter((draft) => draft.reason === reason);

  it('reports the condition from the next pass on, with one Event and one patch [B1]', async () => {
    await settled();
    signals().setShare('nodefs.available', 0.09);
    await world.clock.advance(10 * secondMs);
    assert.deepEqual([...world.side.pressure.conditions()], ['DiskPressure']);
    await world.clock.advance(10.4 * secondMs);
    const condition = world.condition('DiskPressure');
    const expected = ['True', 'KubeletHasDiskPressure', condition?.lastHeartbeatTime];
    assert.deepEqual([condition?.status, condition?.reason, condition?.lastTransitionTime], expected);
    assert.deepEqual(events('NodeHasDiskPressure').length, 1);
    assert.deepEqual(world.times('patch', 'nodes').length, 1);
  });

  it('keeps the condition for five minutes after the pressure has ended [B2]', async () => {
    await settled();
    signals().setShare('nodefs.available', 0.09);
    await world.clock.advance(100 * secondMs);
    signals().setShare('nodefs.available', 0.5);
    await world.clock.advance(289 * secondMs);
    assert.deepEqual([...world.side.pressure.conditions()], ['DiskPressure'], 'held');
    assert.equal(status('DiskPressure'), 'True');
    await world.clock.advance(11 * secondMs + passAndCycleMs);
    assert.equal(status('DiskPressure'), 'False');
    assert.equal(events('NodeHasNoDiskPressure').length, 1);
  });

  it('reports no condition exactly at the threshold [B3]', async () => {
    await settled();
    signals().setShare('nodefs.available', 0.1);
    await world.clock.advance(passAndCycleMs);
    assert.equal(status('DiskPressure'), 'False');
    const { capacity = 0 } = signals().read().get('nodefs.available') ?? {};
    signals().set('nodefs.available', Math.trunc(capacity * 0.1) - 1);
    await world.clock.advance(passAndCycleMs);
    assert.equal(status('DiskPressure'), 'True');
  });

  it('evicts one pod per pass: the lowest priority, then the smallest requests, never a critical one', async () => {
    await settled();
    pods = [
      aPod('critical', { priority: 2_000_000_000 }),
      aPod('important', { priority: 5 }),
      aPod('large', { containers: [{ name: 'main', resources: { requests: { memory: '2Gi' } } }] }),
      aPod('small', { containers: [{ name: 'main', resources: { requests: { memory: '1Gi' } } }] }),
    ];
    signals().set('memory.available', 50 * mebibyte);
    // The passes are at 20, 30 and so on; it is 15 now.
    await world.clock.advance(5.5 * secondMs);
    assert.deepEqual(
      kills.map(({ pod }) => pod),
      ['small'],
    );
    const message = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ';
    assert.deepEqual(kills[0]?.termination, { reason: 'Evicted', message, graceMs: 1_000, evicted: true });
    assert.deepEqual(events('EvictionThresholdMet')[0], {
      about: { kind: 'Node', name: 'n1', apiVersion: 'v1' },
      type: 'Warning',
      reason: 'EvictionThresholdMet',
      message: 'Attempting to reclaim memory',
    });
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(
      kills.map(({ pod }) => pod),
      ['small', 'large', 'important'],
      'no candidate is left',
    );
    assert.equal((kills[1]?.atMs ?? 0) - (kills[0]?.atMs ?? 0), 1_000, 'as soon as the first pod was gone');
  });

  it('waits 30 s for an evicted pod to be gone, and no longer', async () => {
    await settled({ isCleanedUp: () => false });
    pods = [aPod('a'), aPod('b')];
    signals().set('memory.available', 0);
    await world.clock.advance(45 * secondMs);
    assert.equal((kills[1]?.atMs ?? 0) - (kills[0]?.atMs ?? 0), 30_000);
  });

  it('continues after a pod that cannot be killed', async () => {
    await settled({ kill: () => Promise.reject(new Error('stuck')) });
    pods = [aPod('web')];
    signals().set('memory.available', 0);
    await world.clock.advance(60 * secondMs);
    assert.ok(events('Evicted').length >= 2);
    assert.ok(world.logger.lines.some(({ message }) => message === 'failed to kill evicted pod'));
  });

  it('sends no requests while nothing changes', async () => {
    await settled();
    await world.clock.advance(100 * secondMs);
    assert.equal(world.clock.sleeping, 2, 'timers of the status and the lease');
    assert.equal(world.runtime.asked, 1, 'one successful check, and no change since');
  });
});
