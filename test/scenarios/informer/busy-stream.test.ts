import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import { planLeaseQuiet } from '../../../src/controller/freshness/plan-freshness.ts';
import { SharedInformer } from '../../../src/machinery/informer/shared-informer.ts';
import type { WatchEvent } from '../../../src/machinery/ports/kube-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter } from '../../support/fakes.ts';
import { ScriptedReader, type ScriptedStream } from '../../support/scripted-reader.ts';

const lease = (name: string, resourceVersion: string): KubeObject => ({ metadata: { name, resourceVersion } });
const added = (name: string, version: string): WatchEvent => ({ type: 'ADDED', object: lease(name, version) });
const initialEnd: WatchEvent = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '100', annotations: { 'k8s.io/initial-events-end': 'true' } } },
};

describe('a stream that is never idle', () => {
  let api: ScriptedReader;
  let clock: ManualClock;
  let meter: RecordingMeter;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    api = new ScriptedReader();
    clock = new ManualClock();
    meter = new RecordingMeter();
    stop = new AbortController();
    const informer = new SharedInformer({
      resource: 'leases',
      transform: ({ metadata }: KubeObject) => ({
        uid: metadata.name ?? '',
        resourceVersion: metadata.resourceVersion ?? '',
      }),
      identity: (view) => view,
      busyQuietMs: planLeaseQuiet,
      api,
      clock,
      random: { next: () => 0 },
      logger: new RecordingLogger(),
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

  test('the silence limit is the time of fifty renewals, at least five seconds', () => {
    assert.deepEqual([0, 10, 50, 100, 5_000].map(planLeaseQuiet), [Infinity, 50_000, 10_000, 5_000, 5_000]);
  });

  test('with a hundred nodes it is reopened after five seconds of silence, at its last version', async () => {
    const stream = await synced(100);
    await clock.advance(4_000);
    await stream.send(added('n1', '101'));
    // The guard reads its limits every five seconds: the limit was longer while the store was empty.
    await clock.advance(4_999);
    assert.equal(stream.closed, false);
    await clock.advance(5_001);
    assert.equal(stream.closed, true);
    assert.equal(api.nextWatch().options.resourceVersion, '101');
  });

  test('with few nodes it has the default limit', async () => {
    const stream = await synced(3);
    await clock.advance(89_000);
    assert.equal(stream.closed, false);
    await clock.advance(2_000);
    assert.equal(stream.closed, true);
  });

  test('its initial state has the default limit, whatever the size of the store', async () => {
    const stream = await synced(100);
    await stream.send({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'too old' } });
    await clock.advance(0);
    await clock.advance(800);
    const again = await api.nextWatch().accept();
    await clock.advance(60_000);
    assert.equal(again.closed, false);
  });

  test('the limit doubles after each consecutive silence, up to the default; a list follows the third', async () => {
    await synced(100);
    const items = Array.from({ length: 100 }, (_, index) => lease(`n${index}`, '1'));
    const lifetimes: number[] = [];
    for (let streams = 0; streams < 6; streams += 1) {
      let livedMs = 0;
      for (; api.waiting === 0; livedMs += 1_000) await clock.advance(1_000);
      lifetimes.push(livedMs);
      if (streams % 3 === 2) await api.nextList().answer({ metadata: { resourceVersion: '100' }, items });
      await api.nextWatch().accept();
    }
    assert.deepEqual(lifetimes, [5_000, 10_000, 20_000, 40_000, 80_000, 90_000]);
  });

  test('its duration is observed', async () => {
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
    assert.equal(series('reflector_watch_duration_seconds'), undefined, 'it is still open');
    await stream.end();
    assert.equal(series('reflector_watch_duration_seconds'), 5);
    assert.equal(series('reflector_short_watches_total'), undefined);
    await (await api.nextWatch().accept()).end();
    assert.equal(series('reflector_short_watches_total'), 1);
  });
});
