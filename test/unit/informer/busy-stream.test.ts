import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { KubeObject } from '../../../src/api/meta.ts';
import { planLeaseQuiet } from '../../../src/controller/sight/plan-lease-quiet.ts';
import { SharedInformer } from '../../../src/informer/shared-informer.ts';
import type { WatchEvent } from '../../../src/ports/kube-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter } from '../../support/quiet.ts';
import { ScriptedReader, type ScriptedStream } from '../../support/scripted-reader.ts';

const lease = (name: string, resourceVersion: string): KubeObject => ({ metadata: { name, resourceVersion } });
const added = (name: string, version: string): WatchEvent => ({ type: 'ADDED', object: lease(name, version) });
const initialEnd: WatchEvent = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '100', annotations: { 'k8s.io/initial-events-end': 'true' } } },
};

describe('a stream that is never quiet', () => {
  let api: ScriptedReader;
  let clock: ManualClock;
  let meter: KeepingMeter;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    api = new ScriptedReader();
    clock = new ManualClock();
    meter = new KeepingMeter();
    stop = new AbortController();
    const informer = new SharedInformer({
      resource: 'leases',
      view: ({ metadata }: KubeObject) => ({
        uid: metadata.name ?? '',
        resourceVersion: metadata.resourceVersion ?? '',
      }),
      identity: (view) => view,
      busyQuietMs: planLeaseQuiet,
      api,
      clock,
      random: { next: () => 0 },
      logger: new KeepingLogger(),
      meter,
    });
    running = informer.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  async function synced(leases: number): Promise<ScriptedStream> {
    const stream = await api.nextWatch().accept();
    const names = Array.from({ length: leases }, (_, index) => `n${index}`);
    await stream.send(...names.map((name) => added(name, '1')), initialEnd);
    return stream;
  }

  test('fifty renewals that do not come, or five seconds', () => {
    assert.deepEqual([0, 10, 50, 100, 5_000].map(planLeaseQuiet), [Infinity, 50_000, 10_000, 5_000, 5_000]);
  });

  test('is opened anew after five seconds of silence where a hundred nodes renew, from where it was', async () => {
    const stream = await synced(100);
    await clock.advance(4_000);
    await stream.send(added('n1', '101'));
    // The guard looks every five seconds: the limit was longer while the store was empty.
    await clock.advance(4_999);
    assert.equal(stream.closed, false);
    await clock.advance(5_001);
    assert.equal(stream.closed, true);
    assert.equal(api.nextWatch().options.resourceVersion, '101');
  });

  test('is given the usual time where few nodes renew', async () => {
    const stream = await synced(3);
    await clock.advance(89_000);
    assert.equal(stream.closed, false);
    await clock.advance(2_000);
    assert.equal(stream.closed, true);
  });

  test('is given the usual time for its initial state, however full the store is', async () => {
    const stream = await synced(100);
    await stream.send({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } });
    await clock.advance(0);
    await clock.advance(800);
    const again = await api.nextWatch().accept();
    await clock.advance(60_000);
    assert.equal(again.closed, false);
  });

  test('is given twice the time after each silence that went on, and no more than usual', async () => {
    await synced(100);
    const lifetimes: number[] = [];
    for (let streams = 0; streams < 6; streams += 1) {
      let livedMs = 0;
      for (; api.waiting === 0; livedMs += 1_000) await clock.advance(1_000);
      lifetimes.push(livedMs);
      await api.nextWatch().accept();
    }
    assert.deepEqual(lifetimes, [5_000, 10_000, 20_000, 40_000, 80_000, 90_000]);
  });

  test('is measured', async () => {
    const first = api.nextWatch();
    await clock.advance(2_000);
    const stream = await first.accept();
    await stream.send(added('n1', '1'), added('n2', '2'), initialEnd);
    await stream.send(added('n3', '117'));
    await clock.advance(3_000);
    const series = (name: string): number | undefined => meter.series.get(`${name}{resource="leases"}`);
    assert.equal(series('reflector_list_duration_seconds'), 2);
    assert.equal(series('reflector_items_per_list'), 2);
    assert.equal(series('reflector_last_resource_version'), 117);
    assert.equal(series('reflector_watch_duration_seconds'), undefined, 'it goes on');
    await stream.end();
    assert.equal(series('reflector_watch_duration_seconds'), 5);
    assert.equal(series('reflector_short_watches_total'), undefined);
    await (await api.nextWatch().accept()).end();
    assert.equal(series('reflector_short_watches_total'), 1);
  });
});
