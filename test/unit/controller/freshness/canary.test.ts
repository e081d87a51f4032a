import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiError, type ApiReason } from '../../../../src/machinery/api/api-error.ts';
import { Canary } from '../../../../src/controller/freshness/canary.ts';
import { WatchFreshness } from '../../../../src/controller/freshness/watch-freshness.ts';
import type { LeaseView } from '../../../../src/machinery/api/lease.ts';
import type { InformerStatus } from '../../../../src/machinery/informer/informer.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';

const key = 'kube-node-lease/node-lifecycle-controller-canary';
const gracePeriodMs = 40_000;

/** A stream that has come as far as the test says. */
class Stream extends FakeInformer<LeaseView> {
  reached = '100';
  override status(): InformerStatus {
    return { ...super.status(), resourceVersion: this.reached };
  }
  /** A complete state at this version, without the lease where it is older. */
  list(version: number, atMs: number): void {
    this.reached = String(version);
    this.lastListAtMs = atMs;
  }
  show(version: number): void {
    this.set(key, {
      name: 'node-lifecycle-controller-canary',
      uid: 'c',
      resourceVersion: String(version),
      renewTime: '',
    });
    this.reached = String(version);
  }
}

describe('the watch canary', () => {
  let clock: ManualClock;
  let stream: Stream;
  let logger: RecordingLogger;
  let meter: RecordingMeter;
  let canary: Canary;
  let freshness: WatchFreshness;
  let stop: AbortController;
  let running: Promise<unknown>;
  let touches: number;
  let refusal: ApiReason | undefined;
  /** The version of the API server before the first write. */
  let base: number;
  /** What happens at the server before the answer to a write is here. */
  let onTouch: (version: number) => void;

  beforeEach(() => {
    clock = new ManualClock();
    stream = new Stream('leases');
    stream.lastFrameAtMs = () => clock.monotonicMs();
    logger = new RecordingLogger();
    meter = new RecordingMeter();
    stop = new AbortController();
    touches = 0;
    refusal = undefined;
    base = 100;
    onTouch = () => undefined;
    const reopen = (): void => stream.reopen();
    const options = { current: () => ({ nodeMonitorGracePeriodMs: gracePeriodMs, staleWatchHoldMs: 60_000 }) };
    canary = new Canary({ lease: { touch }, leases: stream, options, reopen, clock, logger, meter });
    freshness = new WatchFreshness({
      options,
      leases: stream,
      nodes: stream,
      pods: stream,
      live: { probe: () => Promise.resolve('') },
      canary,
      reopen,
      onRollback: () => undefined,
      decisions: { note: () => undefined },
      recorder: new RecordingRecorder(),
      meter,
      clock,
    });
  });
  afterEach(async () => {
    stop.abort();
    await clock.advance(0);
    await running;
  });

  function begin(): void {
    running = Promise.all([canary.run(stop.signal), freshness.run(stop.signal)]);
  }

  /** The stream shows each write before its response, for this long. */
  async function deliveredFor(ms: number): Promise<void> {
    onTouch = (version) => stream.show(version);
    begin();
    await clock.advance(ms);
  }

  function touch(): Promise<string> {
    touches += 1;
    if (refusal !== undefined) return Promise.reject(new ApiError({ reason: refusal, message: 'scripted' }));
    const version = base + touches;
    onTouch(version);
    return Promise.resolve(String(version));
  }

  const latency = (): number | undefined => meter.series.get('watch_canary_latency_seconds');

  test('delivered in time: its delay is measured, watches are fresh, one write every five seconds', async () => {
    onTouch = (version) => {
      void clock.sleep(300, stop.signal).then(() => stream.show(version));
    };
    begin();
    await clock.advance(20_500);
    assert.equal(touches, 5);
    assert.equal(Math.round((latency() ?? 0) * 10), 15, 'five times 0.3 s');
    assert.equal(freshness.staleness(), undefined);
    assert.equal(stream.reopened, 0);
  });

  test('delivered before the response to its write: no delay', async () => {
    await deliveredFor(10_000);
    assert.equal(latency(), 0);
    assert.equal(canary.isBehind(), false);
  });

  test('a watch that keeps delivering old events: stale after the limit, and the clock stands still', async () => {
    await deliveredFor(12_000);
    onTouch = () => undefined;
    await clock.advance(60_000);
    assert.equal(freshness.staleness(), 'stream-behind');
    assert.equal(touches, 4, 'one write that is not delivered is enough');
    assert.equal(stream.reopened >= 1, true);
    const seenMs = freshness.nowMs();
    await clock.advance(600_000);
    assert.equal(freshness.nowMs(), seenMs, 'no node becomes silent meanwhile');
    stream.show(200);
    await clock.advance(60_000);
    assert.equal(freshness.staleness(), undefined);
    assert.ok(freshness.nowMs() > seenMs);
  });

  test('a watch that stays behind is reopened after 30 s, then after twice as long, up to five minutes', async () => {
    await deliveredFor(12_000);
    onTouch = () => undefined;
    const reopenedAtMs: number[] = [];
    for (let passedMs = 0; passedMs < 1_800_000; passedMs += 1_000) {
      const before = stream.reopened;
      await clock.advance(1_000);
      if (stream.reopened > before) reopenedAtMs.push(clock.monotonicMs());
    }
    const waitsS = reopenedAtMs.slice(1).map((atMs, place) => Math.round((atMs - reopenedAtMs[place]!) / 1_000));
    assert.deepEqual(waitsS.slice(0, 6), [30, 60, 120, 240, 300, 300]);
    stream.show(100 + touches);
    const before = stream.reopened;
    await clock.advance(15_000);
    assert.equal(stream.reopened, before + 1, 'a new lag is another episode');
    await clock.advance(30_000);
    assert.equal(stream.reopened, before + 2);
  });

  test('a watch that passed the version without the lease, as after a relist, is not behind', async () => {
    begin();
    await clock.advance(1_000);
    stream.reached = '150';
    await clock.advance(30_000);
    assert.equal(freshness.staleness(), undefined);
  });

  test('a list at an older version, as after a restore of etcd: the lost write is replaced, and the stream is not behind', async () => {
    await deliveredFor(12_000);
    onTouch = () => undefined;
    await clock.advance(10_000);
    assert.equal(canary.isBehind(), true);
    base = 40;
    onTouch = (version) => stream.show(version);
    stream.list(40, clock.monotonicMs());
    assert.equal(canary.isBehind(), false);
    const before = touches;
    await clock.advance(1_000);
    assert.equal(touches, before + 1, 'written again at once');
    await clock.advance(60_000);
    assert.equal(freshness.staleness(), undefined);
  });

  test('a stream that lags after a list at an older version is found, although it had shown later versions', async () => {
    onTouch = (version) => stream.show(version);
    base = 1_000;
    begin();
    await clock.advance(12_000);
    base = 40;
    stream.list(40, clock.monotonicMs());
    onTouch = () => undefined;
    await clock.advance(12_000);
    assert.equal(canary.isBehind(), true);
  });

  test('a list that shows the write settles it; one before the write says nothing of it', async () => {
    onTouch = (version) => stream.list(version - 1, clock.monotonicMs());
    begin();
    await clock.advance(8_000);
    assert.equal(canary.isBehind(), true);
    stream.list(200, clock.monotonicMs());
    assert.equal(canary.isBehind(), false);
  });

  test('failed writes are no evidence about the watch', async () => {
    refusal = 'timeout';
    begin();
    await clock.advance(60_000);
    assert.equal(canary.isBehind(), false);
    assert.ok(touches >= 10, 'it keeps trying');
    assert.equal(logger.at('warn').length, 0);
  });

  test('no permission: disabled, with one warning', async () => {
    refusal = 'forbidden';
    begin();
    await clock.advance(600_000);
    assert.equal(touches, 1);
    const warnings = logger.at('warn');
    const missing = warnings.map(({ fields }) => fields['missing']);
    assert.deepEqual(missing, ['create and patch of leases in kube-node-lease']);
    assert.equal(freshness.staleness(), undefined);
  });
});
