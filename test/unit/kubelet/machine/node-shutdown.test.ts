import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/pod.ts';
import type { PodVerdict } from '../../../../src/kubelet/machine/pod-verdict.ts';
import type { KubeletProfile } from '../../../../src/kubelet/profile.ts';
import { NodeWorld } from '../node-status/node-world.ts';

const secondMs = 1_000;

const ordinary: Pod = {
  metadata: { name: 'ordinary', uid: '1' },
  spec: { terminationGracePeriodSeconds: 60 },
};
const critical: Pod = {
  metadata: { name: 'critical', uid: '2' },
  spec: { terminationGracePeriodSeconds: 5, priority: 2_000_000_000 },
};

interface Kill {
  readonly pod: string;
  readonly atSeconds: number;
  readonly verdict: PodVerdict;
}

describe('a machine that shuts down', () => {
  let world: NodeWorld;
  let kills: Kill[];
  let begunAtMs: number;

  afterEach(async () => {
    await world.stop();
  });

  /** `stopMs`: how long each pod takes to end, but not longer than it is given. */
  async function settled(
    profile: Partial<KubeletProfile>,
    stopMs: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    kills = [];
    world = new NodeWorld({
      profile,
      activePods: () => [critical, ordinary],
      kill: async (pod, verdict, signal) => {
        const name = pod.metadata.name ?? '';
        kills.push({ pod: name, verdict, atSeconds: (world.clock.monotonicMs() - begunAtMs) / 1_000 });
        await world.clock.sleep(stopMs[name] ?? verdict.graceMs ?? 0, signal);
      },
    });
    await world.settle();
    begunAtMs = world.clock.monotonicMs();
  }

  const thirtyAndTen = {
    shutdownGracePeriodMs: 30 * secondMs,
    shutdownGracePeriodCriticalPodsMs: 10 * secondMs,
  };
  const stops = () => kills.map(({ pod, atSeconds, verdict }) => [pod, atSeconds, verdict.graceMs]);

  it('says so at once, and ends pods group by group, while its lease goes on [B17]', async () => {
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
    assert.deepEqual(kills[0]?.verdict, {
      reason: 'Terminated',
      message,
      condition: { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message },
      graceMs: 20_000,
      evicted: false,
    });
    assert.ok(world.times('replace', 'leases').length >= 3);
    assert.equal(world.side.shutdown.isShuttingDown, true);
  });

  it('goes on to the next group as soon as the one before has ended', async () => {
    await settled(thirtyAndTen, { ordinary: 3_000 });
    void world.side.shutdown.begin(world.signal);
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(stops()[1], ['critical', 3, 5_000]);
  });

  it('goes on, too, when a pod will not end', async () => {
    await settled(thirtyAndTen, { ordinary: 1_000_000 });
    void world.side.shutdown.begin(world.signal);
    await world.clock.advance(30 * secondMs);
    assert.deepEqual(stops()[1], ['critical', 20, 5_000]);
  });

  it('takes in no new pods [B18]', async () => {
    await settled(thirtyAndTen);
    assert.deepEqual(world.side.shutdown.admit(), { admitted: true });
    void world.side.shutdown.begin(world.signal);
    assert.deepEqual(world.side.shutdown.admit(), {
      admitted: false,
      reason: 'NodeShutdown',
      message: 'Pod was rejected as the node is shutting down.',
    });
  });

  it('is ready again when that is cancelled, and spares whom it has not told to end [B19]', async () => {
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
    assert.deepEqual(stops(), [['ordinary', 0, 20_000]], 'which stays as it ended');
    assert.deepEqual(world.side.shutdown.admit(), { admitted: true });
  });

  it('takes its groups from the priorities, if so configured', async () => {
    const shutdownGracePeriodByPodPriority = [
      { priority: 2_000_000_000, periodMs: 4_000 },
      { priority: 10_000, periodMs: 2_000 },
    ];
    await settled({ shutdownGracePeriodByPodPriority });
    void world.side.shutdown.begin(world.signal);
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(
      stops(),
      [
        ['ordinary', 0, 2_000],
        ['critical', 2, 4_000],
      ],
      'who is below them all is in the first',
    );
  });

  it('says nothing when no time was reserved for it', async () => {
    await settled({});
    await world.side.shutdown.begin(world.signal);
    assert.deepEqual([kills.length, world.side.shutdown.isShuttingDown, world.recorder.drafts.length], [0, false, 0]);
  });
});
