import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchFreshness } from '../../../../src/controller/freshness/watch-freshness.ts';
import type { InformerStatus } from '../../../../src/informer/informer.ts';
import { RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

class Stream extends FakeInformer<unknown> {
  override status(): InformerStatus {
    return { ...super.status(), resourceVersion: '900' };
  }
}

/** The rollbacks that were noticed after a probe with this version. */
async function rollbacksAt(version: string): Promise<number> {
  const clock = new ManualClock();
  const stop = new AbortController();
  let rollbacks = 0;
  const freshness = new WatchFreshness({
    options: { current: () => ({ nodeMonitorGracePeriodMs: 40_000, staleWatchHoldMs: 60_000 }) },
    leases: new Stream('leases'),
    nodes: new Stream('nodes'),
    live: { probe: () => Promise.resolve(version) },
    reopen: () => undefined,
    onRollback: () => {
      rollbacks += 1;
    },
    decisions: { note: () => undefined },
    recorder: new RecordingRecorder(),
    meter: new RecordingMeter(),
    clock,
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
