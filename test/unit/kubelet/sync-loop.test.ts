import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/pod.ts';
import { deriveMachine } from '../../../src/kubelet/derive-machine.ts';
import type { PodSource } from '../../../src/kubelet/pod-config/api-source.ts';
import { StatusManager } from '../../../src/kubelet/pod-status/status-manager.ts';
import { FakeRuntime } from '../../../src/kubelet/runtime/fake-runtime.ts';
import { SyncLoop } from '../../../src/kubelet/sync-loop.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApi } from '../../support/memory-api.ts';
import { KeepingLogger, SeededRandom } from '../../support/quiet.ts';

describe('the sync loop', () => {
  let clock: ManualClock;
  let runtime: FakeRuntime;
  let statuses: StatusManager;
  let pods: readonly Pod[] | undefined;
  let ring: () => void;
  let sync: SyncLoop;

  beforeEach(() => {
    clock = new ManualClock();
    runtime = new FakeRuntime({ clock, startDelayMs: 0, stopDelayMs: 60_000 });
    statuses = new StatusManager({
      api: new MemoryApi(clock),
      clock,
      logger: new KeepingLogger(),
      passPeriodMs: 10_000,
    });
    pods = [];
    const source: PodSource = {
      look: () => pods,
      onChange(listener) {
        ring = listener;
        return () => {};
      },
    };
    sync = syncLoop(source, runtime);
  });

  function syncLoop(source: PodSource, runtime: FakeRuntime): SyncLoop {
    return new SyncLoop({
      source,
      runtime,
      statuses,
      machine: deriveMachine(0),
      clock,
      random: new SeededRandom(1),
      syncPeriodMs: 60_000,
    });
  }

  const stateOf = (uid: string) => runtime.containers(uid)?.[0]?.state;

  it('starts what is bound, and keeps it while the source cannot tell', () => {
    pods = [aPod('a'), aPod('b')];
    sync.pass();
    assert.equal(stateOf('a'), 'running');
    assert.equal(statuses.status('a')?.phase, 'Running');
    pods = undefined;
    sync.pass();
    assert.equal(stateOf('a'), 'running');
    assert.equal(sync.pods, 2);
  });

  it('counts the grace from when it saw the deletion, and lets a later one only shorten it', async () => {
    pods = [aPod('a')];
    sync.pass();
    pods = [aPod('a', 30)];
    sync.pass();
    await clock.advance(10_000);
    pods = [aPod('a', 5)];
    sync.pass();
    await clock.advance(4_999);
    assert.equal(stateOf('a'), 'running');
    await clock.advance(1);
    assert.equal(stateOf('a'), 'exited');
  });

  it('does not lengthen the grace when it looks again', async () => {
    pods = [aPod('a')];
    sync.pass();
    pods = [aPod('a', 10)];
    for (let second = 0; second < 10; second++) {
      sync.pass();
      await clock.advance(1_000);
    }
    assert.equal(stateOf('a'), 'exited');
  });

  it('gives each pod an address of its own on the node', () => {
    pods = Array.from({ length: 110 }, (_, index) => aPod(`p${index}`));
    sync.pass();
    const addresses = pods.map((pod) => statuses.status(pod.metadata.uid ?? '')?.podIP);
    assert.equal(new Set(addresses).size, 110);
    assert.ok(!addresses.includes(undefined));
  });

  it('wakes for a change and for a container that exits by itself', async () => {
    const life = new AbortController();
    const running = sync.run(life.signal);
    await clock.advance(1_000);
    pods = [aPod('a')];
    ring();
    await clock.advance(0);
    assert.equal(stateOf('a'), 'running');
    pods = [aPod('a', 10)];
    ring();
    await clock.advance(10_000);
    assert.equal(statuses.status('a')?.phase, 'Failed', 'killed at the end of its grace');
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  });

  it('does not sleep over a container that starts in the middle of its look', async () => {
    const life = new AbortController();
    const runtime = new FakeRuntime({ clock, startDelayMs: 1_000, stopDelayMs: 0 });
    const slow: PodSource = {
      // The look at the second pod takes as long as the first one's container needs to start.
      look: () => [aPod('a'), slowly(aPod('b'), () => clock.stall(1_000))],
      onChange: () => () => {},
    };
    const running = syncLoop(slow, runtime).run(life.signal);
    await clock.advance(0);
    assert.equal(runtime.containers('a')?.[0]?.state, 'running');
    assert.equal(statuses.status('a')?.phase, 'Running');
    life.abort();
    await running;
  });
});

/** A pod whose containers take their time to be read, once. */
function slowly(pod: Pod, passTime: () => void): Pod {
  let passed = false;
  return {
    metadata: pod.metadata,
    get spec() {
      if (!passed) passTime();
      passed = true;
      return pod.spec ?? {};
    },
  };
}

function aPod(uid: string, deletedWithGraceSeconds?: number): Pod {
  const deletion =
    deletedWithGraceSeconds === undefined
      ? {}
      : { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: deletedWithGraceSeconds };
  return {
    metadata: { name: uid, namespace: 'default', uid, ...deletion },
    spec: { nodeName: 'n', containers: [{ name: 'main', image: 'pause' }] },
  };
}
