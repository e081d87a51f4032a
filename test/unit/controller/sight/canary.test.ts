import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiError, type ApiReason } from '../../../../src/api/api-error.ts';
import { Canary } from '../../../../src/controller/sight/canary.ts';
import { Observer } from '../../../../src/controller/sight/observer.ts';
import type { LeaseView } from '../../../../src/api/lease.ts';
import type { InformerStatus } from '../../../../src/informer/informer.ts';
import { FakeInformer } from '../../../support/fake-informer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder } from '../../../support/quiet.ts';

const key = 'kube-node-lease/node-lifecycle-controller-canary';
const gracePeriodMs = 40_000;
const behindAfterMs = 5_000;

/** A stream that has come as far as the test says. */
class Stream extends FakeInformer<LeaseView> {
  reached = '100';
  override status(): InformerStatus {
    return { ...super.status(), resourceVersion: this.reached };
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
  let logger: KeepingLogger;
  let meter: KeepingMeter;
  let canary: Canary;
  let observer: Observer;
  let stop: AbortController;
  let running: Promise<unknown>;
  let touches: number;
  let refusal: ApiReason | undefined;
  /** What happens at the server before the answer to a write is here. */
  let onTouch: (version: number) => void;

  beforeEach(() => {
    clock = new ManualClock();
    stream = new Stream('leases');
    stream.lastFrameAtMs = () => clock.monotonicMs();
    logger = new KeepingLogger();
    meter = new KeepingMeter();
    stop = new AbortController();
    touches = 0;
    refusal = undefined;
    onTouch = () => undefined;
    const reopen = (): void => stream.reopen();
    canary = new Canary({ lease: { touch }, leases: stream, behindAfterMs, reopen, clock, logger, meter });
    observer = new Observer({
      nodeMonitorGracePeriodMs: gracePeriodMs,
      leases: stream,
      nodes: stream,
      live: { probe: () => Promise.resolve() },
      canary,
      reopen,
      decisions: { note: () => undefined },
      recorder: new KeepingRecorder(),
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
    running = Promise.all([canary.run(stop.signal), observer.run(stop.signal)]);
  }

  function touch(): Promise<string> {
    touches += 1;
    if (refusal !== undefined) return Promise.reject(new ApiError({ reason: refusal, message: 'scripted' }));
    const version = 100 + touches;
    onTouch(version);
    return Promise.resolve(String(version));
  }

  const latency = (): number | undefined => meter.series.get('watch_canary_latency_seconds');

  test('that comes back in time: its delay is measured, nobody is blind, a write every five seconds', async () => {
    onTouch = (version) => {
      void clock.sleep(300, stop.signal).then(() => stream.show(version));
    };
    begin();
    await clock.advance(20_500);
    assert.equal(touches, 5);
    assert.equal(Math.round((latency() ?? 0) * 10), 15, 'five times 0.3 s');
    assert.equal(observer.blindness(), undefined);
    assert.equal(stream.reopened, 0);
  });

  test('that is shown before the answer to its write counts as no delay', async () => {
    onTouch = (version) => stream.show(version);
    begin();
    await clock.advance(10_000);
    assert.equal(latency(), 0);
    assert.equal(canary.isBehind(), false);
  });

  test('a stream that goes on bringing old news: blind after the limit, and time stands still', async () => {
    onTouch = (version) => stream.show(version);
    begin();
    await clock.advance(12_000);
    onTouch = () => undefined;
    await clock.advance(60_000);
    assert.equal(observer.blindness(), 'stream-behind');
    assert.equal(touches, 4, 'one write that is missed is enough');
    assert.equal(stream.reopened >= 1, true);
    const seenMs = observer.nowMs();
    await clock.advance(600_000);
    assert.equal(observer.nowMs(), seenMs, 'nobody falls silent meanwhile');
    stream.show(200);
    await clock.advance(60_000);
    assert.equal(observer.blindness(), undefined);
    assert.ok(observer.nowMs() > seenMs);
  });

  test('a stream that passed the version without the lease, as after a relist, is not behind', async () => {
    begin();
    await clock.advance(1_000);
    stream.reached = '150';
    await clock.advance(30_000);
    assert.equal(observer.blindness(), undefined);
  });

  test('writes that fail say nothing about the stream', async () => {
    refusal = 'timeout';
    begin();
    await clock.advance(60_000);
    assert.equal(canary.isBehind(), false);
    assert.ok(touches >= 10, 'it goes on trying');
    assert.equal(logger.lines.filter(({ level }) => level === 'warn').length, 0);
  });

  test('no permission: off, with one warning', async () => {
    refusal = 'forbidden';
    begin();
    await clock.advance(600_000);
    assert.equal(touches, 1);
    const warnings = logger.lines.filter(({ level }) => level === 'warn');
    assert.deepEqual(
      warnings.map(({ fields }) => fields['missing']),
      ['create and patch of leases in kube-node-lease'],
    );
    assert.equal(observer.blindness(), undefined);
  });
});
