import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchFreshness } from '../../../../src/controller/freshness/watch-freshness.ts';
import type { InformerStatus } from '../../../../src/machinery/informer/informer.ts';
import { RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

class Stream extends FakeInformer<unknown> {
  override status(): InformerStatus {
    return { ...super.status(), resourceVersion: '900' };
  }
}

class RestoredStream extends Stream {
  restoredAtMs: number | undefined;

  override status(): InformerStatus {
    return { ...super.status(), restoredAtMs: this.restoredAtMs };
  }
}

type Options = ConstructorParameters<typeof WatchFreshness>[0];

function aFreshness(
  clock: ManualClock,
  options: Pick<Options, 'live' | 'reopen' | 'onRollback'> & Partial<Pick<Options, 'nodes' | 'leases'>>,
): WatchFreshness {
  return new WatchFreshness({
    nodes: new Stream('nodes'),
    leases: new Stream('leases'),
    ...options,
    options: { current: () => ({ nodeMonitorGracePeriodMs: 40_000, staleWatchHoldMs: 60_000 }) },
    pods: new Stream('pods'),
    decisions: { note: () => undefined },
    recorder: new RecordingRecorder(),
    meter: new RecordingMeter(),
    clock,
  });
}

/** The rollbacks that were noticed after a probe with this version. */
async function rollbacksAt(version: string): Promise<number> {
  const clock = new ManualClock();
  const stop = new AbortController();
  let rollbacks = 0;
  const freshness = aFreshness(clock, {
    live: { probe: () => Promise.resolve(version) },
    reopen: () => undefined,
    onRollback: () => {
      rollbacks += 1;
    },
  });
  const running = freshness.run(stop.signal);
  await clock.advance(0);
  stop.abort();
  await clock.advance(0);
  await running;
  return rollbacks;
}

test('an API server that is behind the lease watch was restored: every resource has to be listed again', async () => {
  assert.equal(await rollbacksAt('700'), 1);
});

test('an API server that is ahead was not restored', async () => {
  assert.equal(await rollbacksAt('900'), 0);
  assert.equal(await rollbacksAt('901'), 0);
});

test('the first answer after a loss of contact reopens the watches that were open when it was lost, not those opened since', async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const reopened: (number | undefined)[] = [];
  let version: string | undefined = '900';
  const live = {
    probe: () => (version === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve(version)),
  };
  const freshness = aFreshness(clock, {
    live,
    reopen: (openedByMs) => reopened.push(openedByMs),
    onRollback: () => undefined,
  });
  const running = freshness.run(stop.signal);
  await clock.advance(10_000);
  const lostAtMs = clock.monotonicMs();
  version = undefined;
  await clock.advance(30_000);
  version = '900';
  await clock.advance(10_000);
  const [openedByMs = -1] = reopened;
  assert.equal(reopened.length, 1);
  assert.equal(openedByMs <= lostAtMs && openedByMs > lostAtMs - 5_000, true, `${openedByMs}`);
  stop.abort();
  await clock.advance(0);
  await running;
});

for (const [closedMs, stalls] of [
  [4_000, false],
  [8_000, true],
] as const)
  test(`a watch that is opened again within ${closedMs} ms ${stalls ? 'stops' : 'does not stop'} the clock, whenever the API server is asked`, async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const nodes = new Stream('nodes');
    const live = { probe: () => Promise.resolve('900') };
    const freshness = aFreshness(clock, { live, nodes, reopen: () => undefined, onRollback: () => undefined });
    const running = freshness.run(stop.signal);
    await clock.advance(20_000);
    let stale = 0;
    for (let round = 0; round < 40; round += 1) {
      nodes.state = 'opening';
      await clock.advance(closedMs);
      nodes.state = 'watching';
      for (let ms = 0; ms < 9_700; ms += 100) {
        await clock.advance(100);
        stale += freshness.staleness() === undefined ? 0 : 1;
      }
    }
    assert.equal(stale > 0, stalls, `stale ${stale} times`);
    stop.abort();
    await clock.advance(0);
    await running;
  });

test('after a restore of etcd no time counts until every node can have renewed its lease, once for each restore', async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const leases = new RestoredStream('leases');
  const live = { probe: () => Promise.resolve('900') };
  const freshness = aFreshness(clock, { live, leases, reopen: () => undefined, onRollback: () => undefined });
  const running = freshness.run(stop.signal);
  await clock.advance(60_000);
  leases.restoredAtMs = clock.monotonicMs() - 500;
  const restoredMs = freshness.nowMs();
  assert.equal(freshness.staleness(), 'observing');
  await clock.advance(10_000);
  assert.equal(freshness.nowMs(), restoredMs);
  await clock.advance(10_000);
  assert.equal(freshness.nowMs(), restoredMs + 10_000);
  assert.equal(freshness.staleness(), undefined);
  stop.abort();
  await clock.advance(0);
  await running;
});
