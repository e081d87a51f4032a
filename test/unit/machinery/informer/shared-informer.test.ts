import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiError, type ApiReason } from '../../../../src/machinery/api/api-error.ts';
import type { KubeObject, Status } from '../../../../src/machinery/api/meta.ts';
import type { Change } from '../../../../src/machinery/informer/informer.ts';
import { SharedInformer } from '../../../../src/machinery/informer/shared-informer.ts';
import type { WatchEvent } from '../../../../src/machinery/ports/kube-reader.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from '../../../support/fakes.ts';
import { bookmark, initialEnd } from '../../../support/scripted-informer.ts';
import { ScriptedReader, type ScriptedStream } from '../../../support/scripted-reader.ts';

interface View {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
}

function view({ metadata }: KubeObject): View {
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    zone: metadata.labels?.['zone'] ?? '',
    labels: metadata.labels ?? {},
  };
}

function anObject(name: string, resourceVersion: string, more: { uid?: string; zone?: string } = {}): KubeObject {
  return { metadata: { name, resourceVersion, uid: more.uid ?? `uid-${name}`, labels: { zone: more.zone ?? 'a' } } };
}

type ObjectEvent = 'ADDED' | 'MODIFIED' | 'DELETED';
const event = (type: ObjectEvent, object: KubeObject): WatchEvent => ({ type, object });
const added = (name: string, version: string): WatchEvent => event('ADDED', anObject(name, version));
const modified = (name: string, version: string): WatchEvent => event('MODIFIED', anObject(name, version));
const deleted = (name: string, version: string): WatchEvent => event('DELETED', anObject(name, version));
const errorEvent = (status: Status): WatchEvent => ({ type: 'ERROR', object: { kind: 'Status', ...status } });
const expired: WatchEvent = errorEvent({ code: 410, reason: 'Expired', message: 'too old resource version' });
const apiError = (reason: ApiReason, retryAfterMs?: number): ApiError =>
  new ApiError({ reason, message: `scripted ${reason}`, retryAfterMs });

/** Maximum of the n-th delay: 800 ms, doubled each time, up to 30 s, with up to 100 % jitter. */
const longestDelayMs = (n: number): number => Math.min(800 * 2 ** n, 30_000) * 2;

describe('a shared informer', () => {
  let api: ScriptedReader;
  let clock: ManualClock;
  let meter: RecordingMeter;
  let logger: RecordingLogger;
  let informer: SharedInformer<KubeObject, View>;
  let stop: AbortController;
  let running: Promise<void>;
  let changes: Change<View>[];

  beforeEach(async () => {
    api = new ScriptedReader();
    clock = new ManualClock();
    meter = new RecordingMeter();
    logger = new RecordingLogger();
    stop = new AbortController();
    changes = [];
    informer = new SharedInformer({
      resource: 'nodes',
      transform: view,
      identity: ({ uid, resourceVersion }) => ({ uid, resourceVersion }),
      indexes: { zone: ({ zone }) => [zone] },
      shared: ['zone', 'labels'],
      api,
      clock,
      random: new SeededRandom(7),
      logger,
      meter,
    });
    informer.onChange('test', (change) => changes.push(change));
    running = informer.run(stop.signal);
    await settled();
  });

  afterEach(async () => {
    stop.abort();
    await running;
    assert.equal(informer.status().state, 'stopped');
    assert.equal(clock.sleeping, 0, 'no timer is left');
  });

  async function synced(...objects: readonly KubeObject[]): Promise<ScriptedStream> {
    const stream = await api.nextWatch().accept();
    await stream.send(...objects.map((object) => event('ADDED', object)), initialEnd('100'));
    changes.length = 0;
    return stream;
  }

  /** Synced; then its watch ended, and the next one is refused. */
  async function refusedAfterEnd(error: ApiError): Promise<void> {
    const stream = await synced();
    await stream.send(bookmark('130'));
    await stream.end();
    await api.nextWatch().refuse(error);
  }

  /** Nothing is requested at once; returns the options of the watch after the first delay. */
  async function watchedAfterDelay(): Promise<ReturnType<ScriptedReader['nextWatch']>['options']> {
    assert.equal(api.waiting, 0);
    await passDelay(0);
    return api.nextWatch().options;
  }

  const names = (): readonly string[] => [...informer.store.keys()].sort();
  const delivered = (): readonly string[] =>
    changes.map(({ kind, key, object }) => `${kind} ${key}@${object.resourceVersion}`);
  const passDelay = (n: number): Promise<void> => clock.advance(longestDelayMs(n));

  test('opens with one streaming list, as client-go does', async () => {
    const { signal: _, timeoutSeconds = 0, ...options } = api.nextWatch().options;
    const expected = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
    assert.deepEqual(options, expected);
    assert.ok(timeoutSeconds >= 300 && timeoutSeconds < 600);
  });

  test('the staleness of the stream is computed when the metric is read', async () => {
    const staleness = (): number | undefined => meter.read().get('informer_stream_staleness_seconds{resource="nodes"}');
    await clock.advance(3_000);
    assert.equal(staleness(), 3, 'no frame yet: since the start');
    const stream = await synced();
    assert.equal(staleness(), 0);
    await clock.advance(40_000);
    assert.equal(staleness(), 40);
    await stream.send(bookmark('200'));
    assert.equal(staleness(), 0, 'a bookmark counts as a frame');
    await clock.advance(5_000);
    await stream.send(added('n1', '201'));
    assert.equal(staleness(), 0);
  });

  test('the store is empty until the initial state is complete, then has all of it', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('n1', '5'), added('n2', '3'));
    assert.deepEqual([informer.store.size, informer.hasSynced(), informer.status().state], [0, false, 'listing']);
    await stream.send(initialEnd('9'));
    assert.deepEqual(names(), ['n1', 'n2']);
    assert.deepEqual(delivered(), ['added n1@5', 'added n2@3']);
    const { state, resourceVersion } = informer.status();
    assert.deepEqual([informer.hasSynced(), resourceVersion, state], [true, '9', 'watching']);
    await informer.whenSynced();
  });

  test('changes before the end of the initial state are applied, repeats among them are not', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('n1', '5'), added('n2', '3'), added('n3', '4'));
    await stream.send(modified('n1', '11'), deleted('n2', '12'), added('n4', '13'));
    await stream.send(added('n1', '5'), added('n2', '3'), added('n3', '4'));
    await stream.send(initialEnd('13'));
    assert.deepEqual(delivered().toSorted(), ['added n1@11', 'added n3@4', 'added n4@13']);
    assert.equal(meter.series.get('reflector_stale_events_total{resource="nodes"}'), 3);
  });

  test('the initial state may come in any order of versions', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('n1', '9'), added('n2', '3'), added('n3', '7'), added('n4', '1'), initialEnd('9'));
    assert.deepEqual(names(), ['n1', 'n2', 'n3', 'n4']);
  });

  test('syncs an empty cluster', async () => {
    await synced();
    assert.deepEqual([informer.hasSynced(), informer.store.size], [true, 0]);
  });

  test('delivers changes in order, with the previous state, when the store has them', async () => {
    const seen: boolean[] = [];
    informer.onChange('looking', ({ kind, key, object }) => {
      seen.push(kind === 'deleted' ? informer.store.get(key) === undefined : informer.store.get(key) === object);
    });
    const stream = await synced(anObject('n1', '1'));
    for (const next of [modified('n1', '101'), added('n2', '102'), deleted('n1', '103')]) await stream.send(next);
    assert.deepEqual(delivered(), ['modified n1@101', 'added n2@102', 'deleted n1@103']);
    assert.equal(changes[0]?.kind === 'modified' && changes[0].previous.resourceVersion, '1');
    assert.deepEqual(seen, [true, true, true, true]);
    assert.equal(informer.status().resourceVersion, '103');
  });

  test('delivers a batch when all of it is in the store, and before other code runs', async () => {
    const sizes: number[] = [];
    informer.onChange('looking', () => sizes.push(informer.store.size));
    const stream = await synced();
    stream.push(added('n1', '101'), added('n2', '102'), modified('n1', '103'));
    for (let turns = 0; informer.store.size === 0 && turns < 100; turns += 1) await Promise.resolve();
    assert.deepEqual(delivered(), ['added n1@101', 'added n2@102', 'modified n1@103']);
    assert.deepEqual(sizes, [2, 2, 2]);
  });

  test('objects before and after an undecodable one in the same batch are delivered', async () => {
    const stream = await synced();
    await stream.send(added('n1', '101'), event('ADDED', { metadata: {} }), added('n2', '102'));
    assert.deepEqual(delivered(), ['added n1@101', 'added n2@102']);
    assert.deepEqual(names(), ['n1', 'n2']);
  });

  test('has synced when every listener has received every object, and not before', async () => {
    const syncedAtCall: boolean[] = [];
    informer.onChange('first', () => syncedAtCall.push(informer.hasSynced()));
    informer.onChange('second', () => syncedAtCall.push(informer.hasSynced()));
    await synced(anObject('n1', '1'), anObject('n2', '2'));
    assert.deepEqual(syncedAtCall, [false, false, false, false]);
    assert.equal(informer.hasSynced(), true);
  });

  test('keeps indexes in step with changes and relists', async () => {
    const stream = await synced(anObject('n1', '1', { zone: 'a' }), anObject('n2', '2', { zone: 'b' }));
    await stream.send(event('MODIFIED', anObject('n1', '101', { zone: 'b' })));
    assert.deepEqual(informer.store.byIndex('zone', 'a'), []);
    const inB = informer.store.byIndex('zone', 'b').map(({ name }) => name);
    assert.deepEqual(inB.sort(), ['n1', 'n2']);
    assert.throws(() => informer.store.byIndex('rack', 'a'), RangeError);
  });

  test('a watch that ends is resumed at its last version, without a list and without changes', async () => {
    const stream = await synced(anObject('n1', '1'));
    await clock.advance(2_000);
    await stream.send(bookmark('140'));
    await stream.end();
    const { options } = api.nextWatch();
    assert.deepEqual([options.resourceVersion, options.sendInitialEvents], ['140', undefined]);
    assert.deepEqual(delivered(), []);
  });

  test('a watch whose connection is lost is resumed at its last version', async () => {
    const stream = await synced(anObject('n1', '1'));
    await stream.send(modified('n1', '120'));
    await stream.fail('unavailable');
    assert.equal(api.nextWatch().options.resourceVersion, '120');
    assert.equal(meter.series.get('reflector_watch_errors_total{resource="nodes",reason="lost"}'), 1);
  });

  test('a watch is open when the server has answered, not when it was requested', async () => {
    const stream = await synced(anObject('n1', '1'));
    assert.equal(informer.status().state, 'watching');
    await stream.fail('unavailable');
    while (api.waiting === 0) await clock.advance(10);
    assert.equal(informer.status().state, 'opening');
    await clock.advance(20_000);
    assert.equal(informer.status().state, 'opening');
    await api.nextWatch().refuse(apiError('timeout'));
    assert.equal(informer.status().state, 'backing-off');
    while (api.waiting === 0) await clock.advance(10);
    await api.nextWatch().accept();
    assert.equal(informer.status().state, 'watching');
  });

  test('a watch that ends at once without events is retried with a growing delay', async () => {
    const stream = await synced();
    await stream.end();
    for (let failures = 0; failures < 8; failures += 1) {
      await (await api.nextWatch().accept()).end();
      assert.equal(informer.status().state, 'backing-off');
      assert.equal(informer.status().consecutiveFailures, failures + 1);
      const sinceMs = clock.monotonicMs();
      while (api.waiting === 0) await clock.advance(10);
      const waitedMs = clock.monotonicMs() - sinceMs;
      assert.ok(waitedMs >= longestDelayMs(failures) / 2, `waited ${waitedMs} ms`);
      assert.ok(waitedMs <= longestDelayMs(failures) + 10, `waited ${waitedMs} ms`);
    }
    await (await api.nextWatch().accept()).send(bookmark('150'));
    assert.equal(informer.status().consecutiveFailures, 0);
  });

  for (const reason of [
    'too-many-requests',
    'unavailable',
    'timeout',
    'internal',
    'unauthorized',
    'forbidden',
  ] as const) {
    test(`a watch cannot be opened (${reason}): retried after a delay, without a list`, async () => {
      await refusedAfterEnd(apiError(reason));
      const { resourceVersion, sendInitialEvents } = await watchedAfterDelay();
      assert.deepEqual([resourceVersion, sendInitialEvents], ['130', undefined]);
    });
  }

  test('a watch is rejected permanently: a complete state is read, after a delay', async () => {
    await refusedAfterEnd(apiError('bad-request'));
    assert.equal((await watchedAfterDelay()).sendInitialEvents, true);
  });

  test('Retry-After of the server is honored', async () => {
    await refusedAfterEnd(apiError('too-many-requests', 20_000));
    await clock.advance(19_999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.waiting, 1);
  });

  test('a Retry-After of ten hours (a date on a wrong clock) is limited to a minute', async () => {
    await refusedAfterEnd(apiError('unavailable', 36_000_000));
    await clock.advance(60_000);
    assert.equal(api.waiting, 1);
  });

  test('an error event with an invalid retryAfterSeconds: the usual delay, not zero', async () => {
    const stream = await synced();
    const details = { retryAfterSeconds: 'soon' } as unknown as { retryAfterSeconds: number };
    await stream.send(errorEvent({ code: 429, reason: 'TooManyRequests', details }));
    assert.equal(api.waiting, 0);
    await passDelay(0);
    assert.equal(api.waiting, 1);
  });

  test('an expired version causes one more complete state, without duplicates', async () => {
    const stream = await synced(anObject('n1', '1'), anObject('n2', '2'), anObject('n3', '3'));
    await clock.advance(60_000);
    await stream.send(expired);
    const relist = api.nextWatch();
    assert.equal(relist.options.sendInitialEvents, true);
    assert.equal(relist.options.resourceVersion, '100', 'not older than the store');
    const next = await relist.accept();
    await next.send(added('n1', '1'), event('ADDED', anObject('n2', '150', { uid: 'another' })), added('n4', '151'));
    assert.deepEqual(names(), ['n1', 'n2', 'n3'], 'the old state stays until the new one is complete');
    await next.send(initialEnd('160'));
    assert.deepEqual(delivered(), ['deleted n3@3', 'deleted n2@2', 'added n2@150', 'added n4@151']);
    assert.deepEqual(names(), ['n1', 'n2', 'n4']);
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="expired"}'), 1);
    assert.equal(meter.series.get('informer_store_objects{resource="nodes"}'), 3);
  });

  test('410 for the watch and for the requested version: recovers with the most recent version', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.end();
    await api.nextWatch().refuse(apiError('expired'));
    await api.nextWatch().refuse(apiError('expired'));
    const last = api.nextWatch();
    assert.equal(last.options.resourceVersion, undefined);
    await (await last.accept()).send(initialEnd('500'));
    assert.equal(informer.status().resourceVersion, '500');
  });

  test('a server that was rolled back: its smaller version is used', async () => {
    const stream = await synced(anObject('n1', '90'));
    await clock.advance(60_000);
    await stream.end();
    await api.nextWatch().refuse(apiError('too-large-resource-version'));
    await api.nextWatch().refuse(apiError('too-large-resource-version'));
    const next = await api.nextWatch().accept();
    await next.send(added('n1', '4'), initialEnd('7'));
    assert.equal(informer.status().resourceVersion, '7');
    await next.send(modified('n1', '8'));
    assert.equal(informer.store.get('n1')?.resourceVersion, '8');
  });

  test('a second expired version soon after a complete state causes a delay', async () => {
    const stream = await synced();
    await stream.send(expired);
    assert.equal((await watchedAfterDelay()).sendInitialEvents, true);
  });

  test('without streaming lists: pages of 500 at one version', async () => {
    await api.nextWatch().refuse(apiError('invalid'));
    const first = api.nextList();
    assert.deepEqual([first.options.limit, first.options.resourceVersion], [500, undefined]);
    await first.answer({ metadata: { resourceVersion: '50', continue: 'page2' }, items: [anObject('n1', '1')] });
    assert.equal(informer.store.size, 0);
    const second = api.nextList();
    assert.deepEqual([second.options.continue, second.options.limit], ['page2', 500]);
    await second.answer({ metadata: { resourceVersion: '50' }, items: [anObject('n2', '2')] });
    assert.deepEqual(names(), ['n1', 'n2']);
    assert.equal(api.nextWatch().options.resourceVersion, '50');
  });

  test('a list whose next page expired starts over, and the third time requests the whole list', async () => {
    await api.nextWatch().refuse(apiError('bad-request'));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const first = api.nextList();
      assert.deepEqual([first.options.continue, first.options.limit], [undefined, 500]);
      await first.answer({ metadata: { resourceVersion: '50', continue: 'next' }, items: [anObject('ghost', '1')] });
      await api.nextList().refuse(apiError('expired'));
    }
    const whole = api.nextList();
    assert.equal(whole.options.limit, undefined);
    await whole.answer({ metadata: { resourceVersion: '60' }, items: [anObject('n1', '1')] });
    assert.deepEqual(names(), ['n1'], 'no object of a failed list is kept');
  });

  test('a failed list is retried from the start after a delay', async () => {
    await api.nextWatch().refuse(apiError('invalid'));
    await api.nextList().refuse(apiError('unavailable'));
    assert.equal(informer.status().state, 'backing-off');
    assert.match(informer.status().lastError ?? '', /scripted unavailable/);
    await passDelay(0);
    assert.equal(api.nextWatch().options.sendInitialEvents, true);
  });

  test('the first streaming list and a busy server: a delay, without a fallback', async () => {
    await api.nextWatch().refuse(apiError('unavailable'));
    await passDelay(0);
    await api.nextWatch().refuse(apiError('too-many-requests'));
    await passDelay(1);
    await (await api.nextWatch().accept()).send(initialEnd('1'));
    assert.equal(informer.hasSynced(), true);
  });

  test('a streaming list that is interrupted before its end falls back to pages', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('ghost', '5'));
    await stream.fail('unavailable');
    await api.nextList().answer({ metadata: { resourceVersion: '50' }, items: [] });
    assert.deepEqual([informer.hasSynced(), informer.store.size], [true, 0]);
  });

  test('a server that never sends the initial state, only bookmarks: falls back to pages', async () => {
    const stream = await api.nextWatch().accept();
    for (let minute = 0; minute < 2; minute += 1) {
      await clock.advance(50_000);
      await stream.send(bookmark(String(10 + minute)));
    }
    assert.equal(stream.closed, true);
    await api.nextList().answer({ metadata: { resourceVersion: '50' }, items: [] });
    assert.equal(informer.hasSynced(), true);
  });

  test('a connection that was found dead: a stream that was opened before is reopened, one that was opened since is kept', async () => {
    const stream = await synced();
    await clock.advance(10_000);
    informer.reopen(clock.monotonicMs() - 11_000);
    await clock.advance(0);
    assert.equal(stream.closed, false);
    informer.reopen(clock.monotonicMs());
    await clock.advance(0);
    assert.equal(stream.closed, true);
  });

  test('a watch is reopened after 90 s of silence', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.send(bookmark('150'));
    await clock.advance(89_999);
    assert.equal(stream.closed, false);
    await clock.advance(1);
    assert.equal(stream.closed, true);
    assert.equal(api.nextWatch().options.resourceVersion, '150');
    assert.equal(meter.series.get('reflector_watch_errors_total{resource="nodes",reason="guard"}'), 1);
  });

  test('a watch that the server does not end at its timeout is closed', async () => {
    const call = api.nextWatch();
    const stream = await call.accept();
    await stream.send(initialEnd('1'));
    const seconds = call.options.timeoutSeconds ?? 0;
    for (let passed = 0; passed < seconds; passed += 30) {
      await stream.send(bookmark(String(10 + passed)));
      await clock.advance(30_000);
    }
    await clock.advance(15_000);
    assert.equal(stream.closed, true);
    assert.equal(api.waiting, 1);
  });

  test('a watch request without a response is aborted', async () => {
    const call = api.nextWatch();
    await clock.advance(90_000);
    assert.equal(call.options.signal.aborted, true);
    assert.equal(api.nextList().options.limit, 500);
  });

  test('an error event of a busy server causes no list', async () => {
    const stream = await synced();
    await stream.send(errorEvent({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 5 } }));
    await clock.advance(4_999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.nextWatch().options.resourceVersion, '100');
  });

  test('any other error event causes a list, after a delay', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.send(modified('n1', '120'), errorEvent({ code: 400, reason: 'BadRequest' }));
    const options = await watchedAfterDelay();
    assert.equal(options.sendInitialEvents, true);
    assert.equal(options.resourceVersion, '120', 'events before the error are applied');
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="refused"}'), 1);
  });

  test('a stream that ends with an internal error causes a list', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.fail('internal');
    assert.equal(api.nextWatch().options.sendInitialEvents, true);
  });

  test('stale events are ignored and counted', async () => {
    const stream = await synced(anObject('n1', '90'), anObject('n2', '91'));
    await stream.send(modified('n1', '110'), deleted('n2', '111'));
    changes.length = 0;
    const again = [modified('n1', '90'), modified('n1', '110'), added('n2', '91'), deleted('n2', '111')];
    await stream.send(...again, event('DELETED', anObject('n1', '80', { uid: 'before' })));
    assert.deepEqual(delivered(), []);
    assert.deepEqual(names(), ['n1']);
    assert.equal(informer.status().resourceVersion, '111');
    assert.ok((meter.series.get('reflector_stale_events_total{resource="nodes"}') ?? 0) >= 4);
  });

  test('after a restore an object with the version that it had before is delivered: it may have another state', async () => {
    await synced(anObject('n1', '90', { zone: 'before' }));
    await clock.advance(60_000);
    informer.noticeRollback();
    await settled();
    const restored = anObject('n1', '90', { zone: 'after' });
    await api.nextList().answer({ metadata: { resourceVersion: '95' }, items: [restored] });
    assert.deepEqual(delivered(), ['modified n1@90']);
    api.nextWatch();
  });

  test('a deletion with the same uid is applied whatever its version', async () => {
    const stream = await synced(anObject('n1', '90'));
    await stream.send(deleted('n1', '90'));
    assert.deepEqual(delivered(), ['deleted n1@90']);
  });

  test('a name reused by another object is a deletion and an addition', async () => {
    const stream = await synced(anObject('n1', '1'));
    await stream.send(event('MODIFIED', anObject('n1', '120', { uid: 'another' })));
    assert.deepEqual(delivered(), ['deleted n1@1', 'added n1@120']);
  });

  test('a listener that throws does not affect others, and is counted by its name', async () => {
    informer.onChange('broken', () => {
      throw new Error('from a listener');
    });
    const after: string[] = [];
    informer.onChange('sound', ({ key }) => after.push(key));
    const stream = await synced(anObject('n1', '1'));
    await stream.send(added('n2', '120'));
    assert.deepEqual(after, ['n1', 'n2']);
    assert.equal(meter.series.get('informer_listener_errors_total{resource="nodes",listener="broken"}'), 2);
    assert.equal(meter.series.get('informer_listener_errors_total{resource="nodes",listener="sound"}'), undefined);
    assert.equal(informer.status().consecutiveFailures, 0);
  });

  test('a listener added later first receives every object, then each change once', async () => {
    const stream = await synced(anObject('n1', '1'));
    const late: string[] = [];
    let leave: () => void = () => undefined;
    informer.onChange('first', ({ key }) => {
      if (key === 'n2') leave = informer.onChange('late', (change) => late.push(`${change.kind} ${change.key}`));
    });
    await stream.send(added('n2', '120'));
    await stream.send(added('n3', '121'));
    assert.deepEqual(late, ['added n1', 'added n2', 'added n3']);
    leave();
    await stream.send(added('n4', '122'));
    assert.equal(late.length, 3);
  });

  test('equal values are kept once', async () => {
    await synced(anObject('n1', '1'), anObject('n2', '2'));
    const first = informer.store.get('n1')?.labels;
    assert.deepEqual(first, { zone: 'a' });
    assert.equal(first, informer.store.get('n2')?.labels);
  });

  test('times of frames and lists are monotonic', async () => {
    const stream = await synced();
    const listedAtMs = clock.monotonicMs();
    clock.jumpWall(-3_600_000);
    await clock.advance(7_000);
    await stream.send(bookmark('150'));
    assert.equal(informer.status().lastListAtMs, listedAtMs);
    assert.equal(informer.status().lastFrameAtMs, listedAtMs + 7_000);
  });

  test('runs once', async () => {
    await assert.rejects(informer.run(stop.signal), /already started/);
  });

  test('stops during a list', async () => {
    await api.nextWatch().refuse(apiError('invalid'));
    stop.abort();
    await running;
    assert.equal(informer.hasSynced(), false);
  });

  test('stops during a retry delay', async () => {
    await api.nextWatch().refuse(apiError('unavailable'));
    assert.equal(informer.status().state, 'backing-off');
    stop.abort();
    await running;
    assert.equal(api.calls, 1);
  });
});
