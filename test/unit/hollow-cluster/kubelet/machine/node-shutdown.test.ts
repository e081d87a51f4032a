import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import type { PodTermination } from '../../../../../src/hollow-cluster/kubelet/machine/pod-termination.ts';
import type { KubeletProfile } from '../../../../../src/hollow-cluster/kubelet/profile.ts';
import { NodeWorld } from '../../../../support/node-world.ts';

const secondMs = 1_000;

const ordinary: Pod = { metadata: { name: 'ordinary', uid: '1' }, spec: { terminationGracePeriodSeconds: 60 } };
const critical: Pod = {
  metadata: { name: 'critical', uid: '2' },
  spec: { terminationGracePeriodSeconds: 5, priority: 2_000_000_000 },
};

interface Kill {
  readonly pod: string;
  readonly atSeconds: number;
  readonly termination: PodTermination;
}

describe('a graceful node shutdown', () => {
  let world: NodeWorld;
  let kills: Kill[];
  let begunAtMs: number;

  afterEach(() => world.stop());

  /** `stopMs`: time that each pod takes to stop, limited by its grace period. */
  async function settled(
    profile: Partial<KubeletProfile>,
    stopMs: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    kills = [];
    world = new NodeWorld({
      profile,
      activePods: () => [critical, ordinary],
      kill: async (pod, termination, signal) => {
        const name = pod.metadata.name ?? '';
        kills.push({ pod: name, termination, atSeconds: (world.clock.monotonicMs() - begunAtMs) / 1_000 });
        await world.clock.sleep(stopMs[name] ?? termination.graceMs ?? 0, signal);
      },
    });
    await world.settle();
    begunAtMs = world.clock.monotonicMs();
  }

  const thirtyAndTen = { shutdownGracePeriodMs: 30 * secondMs, shutdownGracePeriodCriticalPodsMs: 10 * secondMs };
  const stops = () => kills.map(({ pod, atSeconds, termination }) => [pod, atSeconds, termination.graceMs]);

  it('reports the node not ready at once and stops pods group by group, while the lease is still renewed [B17]', async () => {
    await settled(thirtyAndTen);
    const over = world.side.shutdown.begin(world.signal);
    await world.clock.advance(0);
    assert.equal(world.condition('Ready')?.message, 'node is shutting down');
    assert.deepEqual(
      world.recorder.drafts.map(({ reason, message }) => `${reason}: ${message}`),
      ['Shutdown: Shutdown manager detected shutdown event', 'NodeNotReady: Node n1 status is now: NodeNotReady'],
    );
    assert.deepEqual(stops(), [['ordinary', 0, 20_000]]);
    await world.clock.advance(30 * secondMs);
    await over;
    assert.deepEqual(stops(), [
      ['ordinary', 0, 20_000],
      ['critical', 20, 5_000],
    ]);
    const message = 'Pod was terminated in response to imminent node shutdown.';
    assert.deepEqual(kills[0]?.termination, { reason: 'Terminated', message, graceMs: 20_000, evicted: false });
    assert.ok(world.times('replace', 'leases').length >= 3);
    assert.equal(world.side.shutdown.isShuttingDown, true);
  });

  it('proceeds to the next group as soon as the previous one has stopped', async () => {
    await settled(thirtyAndTen, { ordinary: 3_000 });
    void world.side.shutdown.begin(world.signal);
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(stops()[1], ['critical', 3, 5_000]);
  });

  it('proceeds to the next group when a pod does not stop in time', async () => {
    await settled(thirtyAndTen, { ordinary: 1_000_000 });
    void world.side.shutdown.begin(world.signal);
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(stops()[1], ['critical', 20, 5_000]);
  });

  it('rejects new pods [B18]', async () => {
    await settled(thirtyAndTen);
    assert.deepEqual(world.side.shutdown.admit(), { admitted: true });
    void world.side.shutdown.begin(world.signal);
    assert.deepEqual(world.side.shutdown.admit(), {
      admitted: false,
      reason: 'NodeShutdown',
      message: 'Pod was rejected as the node is shutting down.',
    });
  });

  it('when cancelled, the node is ready again, and pods that were not being stopped are not affected [B19]', async () => {
    await settled(thirtyAndTen);
    const over = world.side.shutdown.begin(world.signal);
    await world.clock.advance(5 * secondMs);
    world.side.shutdown.cancel();
    await world.clock.advance(0);
    await over;
    assert.match(world.recorder.drafts.at(-1)?.message ?? '', /cancellation/);
    await world.clock.advance(10.4 * secondMs);
    assert.equal(world.condition('Ready')?.status, 'True');
    await world.clock.advance(60 * secondMs);
    assert.deepEqual(stops(), [['ordinary', 0, 20_000]], 'already stopped pods stay stopped');
    assert.deepEqual(world.side.shutdown.admit(), { admitted: true });
  });

  it('does nothing if no time is reserved', async () => {
    await settled({});
    await world.side.shutdown.begin(world.signal);
    assert.deepEqual([kills.length, world.side.shutdown.isShuttingDown, world.recorder.drafts.length], [0, false, 0]);
  });
});
