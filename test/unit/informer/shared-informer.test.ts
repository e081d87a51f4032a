import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiError, type ApiReason } from '../../../src/api/api-error.ts';
import type { KubeObject, Status } from '../../../src/api/meta.ts';
import type { Change } from '../../../src/informer/informer.ts';
import { SharedInformer } from '../../../src/informer/shared-informer.ts';
import type { WatchEvent } from '../../../src/ports/kube-reader.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter, SeededRandom } from '../../support/quiet.ts';
import { ScriptedReader, type ScriptedStream } from '../../support/scripted-reader.ts';

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
const bookmark = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion } },
});
const initialEnd = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } },
});
const errorEvent = (status: Status): WatchEvent => ({ type: 'ERROR', object: { kind: 'Status', ...status } });
const expired: WatchEvent = errorEvent({ code: 410, reason: 'Expired', message: 'too old resource version' });
const refusal = (reason: ApiReason, retryAfterMs?: number): ApiError =>
  new ApiError({ reason, message: `scripted ${reason}`, retryAfterMs });

/** The longest the n-th delay can be: 800 ms, doubled each time, up to 30 s, and as much again by chance. */
const longestDelayMs = (n: number): number => Math.min(800 * 2 ** n, 30_000) * 2;

describe('a shared informer', () => {
  let api: ScriptedReader;
  let clock: ManualClock;
  let meter: KeepingMeter;
  let logger: KeepingLogger;
  let informer: SharedInformer<KubeObject, View>;
  let stop: AbortController;
  let running: Promise<void>;
  let changes: Change<View>[];

  beforeEach(async () => {
    api = new ScriptedReader();
    clock = new ManualClock();
    meter = new KeepingMeter();
    logger = new KeepingLogger();
    stop = new AbortController();
    changes = [];
    informer = new SharedInformer({
      resource: 'nodes',
      view,
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

  const names = (): readonly string[] => [...informer.store.keys()].sort();
  const told = (): readonly string[] =>
    changes.map(({ kind, key, object }) => `${kind} ${key}@${object.resourceVersion}`);
  const passDelay = (n: number): Promise<void> => clock.advance(longestDelayMs(n));

  test('opens with one streaming list, as client-go does', async () => {
    const { options } = api.nextWatch();
    assert.equal(options.sendInitialEvents, true);
    assert.equal(options.resourceVersionMatch, 'NotOlderThan');
    assert.equal(options.allowWatchBookmarks, true);
    assert.equal(options.resourceVersion, undefined);
    assert.ok((options.timeoutSeconds ?? 0) >= 300 && (options.timeoutSeconds ?? 0) < 600);
  });

  test('how long ago the stream brought anything is told when somebody reads', async () => {
    const staleness = (): number | undefined => meter.read().get('informer_stream_staleness_seconds{resource="nodes"}');
    await clock.advance(3_000);
    assert.equal(staleness(), 3, 'nothing yet: since it began');
    const stream = await synced();
    assert.equal(staleness(), 0);
    await clock.advance(40_000);
    assert.equal(staleness(), 40);
    await stream.send(bookmark('200'));
    assert.equal(staleness(), 0, 'a bookmark is a sign of life');
    await clock.advance(5_000);
    await stream.send(added('n1', '201'));
    assert.equal(staleness(), 0);
  });

  test('shows nothing until the initial state is complete, then all of it', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('n1', '5'), added('n2', '3'));
    assert.equal(informer.store.size, 0);
    assert.equal(informer.hasSynced(), false);
    assert.equal(informer.status().state, 'listing');
    await stream.send(initialEnd('9'));
    assert.deepEqual(names(), ['n1', 'n2']);
    assert.deepEqual(told(), ['added n1@5', 'added n2@3']);
    assert.equal(informer.hasSynced(), true);
    assert.equal(informer.status().resourceVersion, '9');
    assert.equal(informer.status().state, 'watching');
    await informer.whenSynced();
  });

  test('changes before the end of the initial state count, and what comes twice among them does not', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('n1', '5'), added('n2', '3'), added('n3', '4'));
    await stream.send(modified('n1', '11'), deleted('n2', '12'), added('n4', '13'));
    await stream.send(added('n1', '5'), added('n2', '3'), added('n3', '4'));
    await stream.send(initialEnd('13'));
    assert.deepEqual(told().toSorted(), ['added n1@11', 'added n3@4', 'added n4@13']);
    assert.equal(meter.series.get('reflector_stale_events_total{resource="nodes"}'), 3);
  });

  test('the initial state comes in any order of versions', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('n1', '9'), added('n2', '3'), added('n3', '7'), added('n4', '1'), initialEnd('9'));
    assert.deepEqual(names(), ['n1', 'n2', 'n3', 'n4']);
  });

  test('syncs an empty cluster', async () => {
    await synced();
    assert.equal(informer.hasSynced(), true);
    assert.equal(informer.store.size, 0);
  });

  test('tells changes in order, with the state before, when the store shows them', async () => {
    const seen: boolean[] = [];
    informer.onChange('looking', ({ kind, key, object }) => {
      seen.push(kind === 'deleted' ? informer.store.get(key) === undefined : informer.store.get(key) === object);
    });
    const stream = await synced(anObject('n1', '1'));
    for (const next of [modified('n1', '101'), added('n2', '102'), deleted('n1', '103')]) await stream.send(next);
    assert.deepEqual(told(), ['modified n1@101', 'added n2@102', 'deleted n1@103']);
    assert.equal(changes[0]?.kind === 'modified' && changes[0].previous.resourceVersion, '1');
    assert.deepEqual(seen, [true, true, true, true]);
    assert.equal(informer.status().resourceVersion, '103');
  });

  test('tells nothing of a batch before all of it is in the store, and all of it before anybody else runs', async () => {
    const sizes: number[] = [];
    informer.onChange('looking', () => sizes.push(informer.store.size));
    const stream = await synced();
    stream.push(added('n1', '101'), added('n2', '102'), modified('n1', '103'));
    for (let turns = 0; informer.store.size === 0 && turns < 100; turns += 1) await Promise.resolve();
    assert.deepEqual(told(), ['added n1@101', 'added n2@102', 'modified n1@103']);
    assert.deepEqual(sizes, [2, 2, 2]);
  });

  test('what came before something unreadable in the same batch is told', async () => {
    const stream = await synced();
    await stream.send(added('n1', '101'), event('ADDED', { metadata: {} }), added('n2', '102'));
    assert.deepEqual(told(), ['added n1@101']);
    assert.deepEqual(names(), ['n1']);
  });

  test('has synced when every listener has heard of everything, and not before', async () => {
    const heard: boolean[] = [];
    informer.onChange('first', () => heard.push(informer.hasSynced()));
    informer.onChange('second', () => heard.push(informer.hasSynced()));
    await synced(anObject('n1', '1'), anObject('n2', '2'));
    assert.deepEqual(heard, [false, false, false, false]);
    assert.equal(informer.hasSynced(), true);
  });

  test('keeps indexes in step with changes and relists', async () => {
    const stream = await synced(anObject('n1', '1', { zone: 'a' }), anObject('n2', '2', { zone: 'b' }));
    await stream.send(event('MODIFIED', anObject('n1', '101', { zone: 'b' })));
    assert.deepEqual(informer.store.byIndex('zone', 'a'), []);
    assert.deepEqual(
      informer.store
        .byIndex('zone', 'b')
        .map(({ name }) => name)
        .sort(),
      ['n1', 'n2'],
    );
    assert.throws(() => informer.store.byIndex('rack', 'a'), RangeError);
  });

  test('a watch that ends goes on where it was, without a list and without telling anybody', async () => {
    const stream = await synced(anObject('n1', '1'));
    await clock.advance(2_000);
    await stream.send(bookmark('140'));
    await stream.end();
    const { options } = api.nextWatch();
    assert.equal(options.resourceVersion, '140');
    assert.equal(options.sendInitialEvents, undefined);
    assert.deepEqual(told(), []);
  });

  test('a watch that is cut goes on where it was', async () => {
    const stream = await synced(anObject('n1', '1'));
    await stream.send(modified('n1', '120'));
    await stream.fail('unavailable');
    assert.equal(api.nextWatch().options.resourceVersion, '120');
    assert.equal(meter.series.get('reflector_watch_errors_total{resource="nodes",reason="lost"}'), 1);
  });

  test('a watch that brings nothing and ends at once waits longer each time', async () => {
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
    test(`a watch cannot be opened (${reason}): waits and tries again without a list`, async () => {
      const stream = await synced();
      await stream.end();
      await api.nextWatch().refuse(refusal(reason));
      assert.equal(api.waiting, 0);
      await passDelay(0);
      const { options } = api.nextWatch();
      assert.equal(options.resourceVersion, '100');
      assert.equal(options.sendInitialEvents, undefined);
    });
  }

  test('a watch is refused for good: reads a complete state, after a delay', async () => {
    const stream = await synced();
    await stream.end();
    await api.nextWatch().refuse(refusal('bad-request'));
    assert.equal(api.waiting, 0);
    await passDelay(0);
    assert.equal(api.nextWatch().options.sendInitialEvents, true);
  });

  test('the server says how long to wait, and is obeyed', async () => {
    const stream = await synced();
    await stream.send(bookmark('130'));
    await stream.end();
    await api.nextWatch().refuse(refusal('too-many-requests', 20_000));
    await clock.advance(19_999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.waiting, 1);
  });

  test('the server says to wait for ten hours, which is what a wrong clock makes of a date: a minute is enough', async () => {
    const stream = await synced();
    await stream.send(bookmark('130'));
    await stream.end();
    await api.nextWatch().refuse(refusal('unavailable', 36_000_000));
    await clock.advance(60_000);
    assert.equal(api.waiting, 1);
  });

  test('an error event that says nonsense about how long to wait: waits as ever, and not for no time', async () => {
    const stream = await synced();
    const details = { retryAfterSeconds: 'soon' } as unknown as { retryAfterSeconds: number };
    await stream.send(errorEvent({ code: 429, reason: 'TooManyRequests', details }));
    assert.equal(api.waiting, 0);
    await passDelay(0);
    assert.equal(api.waiting, 1);
  });

  test('a version that expired means one complete state more, and no duplicates', async () => {
    const stream = await synced(anObject('n1', '1'), anObject('n2', '2'), anObject('n3', '3'));
    await clock.advance(60_000);
    await stream.send(expired);
    const relist = api.nextWatch();
    assert.equal(relist.options.sendInitialEvents, true);
    assert.equal(relist.options.resourceVersion, '100', 'not older than what we know');
    const next = await relist.accept();
    await next.send(added('n1', '1'), event('ADDED', anObject('n2', '150', { uid: 'another' })), added('n4', '151'));
    assert.deepEqual(names(), ['n1', 'n2', 'n3'], 'the old state stays until the new one is complete');
    await next.send(initialEnd('160'));
    assert.deepEqual(told(), ['deleted n3@3', 'deleted n2@2', 'added n2@150', 'added n4@151']);
    assert.deepEqual(names(), ['n1', 'n2', 'n4']);
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="expired"}'), 1);
    assert.equal(meter.series.get('informer_store_objects{resource="nodes"}'), 3);
  });

  test('HTTP 410 at the watch and at the version asked for: recovers with the newest', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.end();
    await api.nextWatch().refuse(refusal('expired'));
    await api.nextWatch().refuse(refusal('expired'));
    const last = api.nextWatch();
    assert.equal(last.options.resourceVersion, undefined);
    await (await last.accept()).send(initialEnd('500'));
    assert.equal(informer.status().resourceVersion, '500');
  });

  test('a server that was put back in time: its smaller version is taken', async () => {
    const stream = await synced(anObject('n1', '90'));
    await clock.advance(60_000);
    await stream.end();
    await api.nextWatch().refuse(refusal('too-large-resource-version'));
    await api.nextWatch().refuse(refusal('too-large-resource-version'));
    const next = await api.nextWatch().accept();
    await next.send(added('n1', '4'), initialEnd('7'));
    assert.equal(informer.status().resourceVersion, '7');
    await next.send(modified('n1', '8'));
    assert.equal(informer.store.get('n1')?.resourceVersion, '8');
  });

  test('a second expiry soon after a complete state waits', async () => {
    const stream = await synced();
    await stream.send(expired);
    assert.equal(api.waiting, 0);
    await passDelay(0);
    assert.equal(api.nextWatch().options.sendInitialEvents, true);
  });

  test('no streaming list: pages of 500 at one version', async () => {
    await api.nextWatch().refuse(refusal('invalid'));
    const first = api.nextList();
    assert.equal(first.options.limit, 500);
    assert.equal(first.options.resourceVersion, undefined);
    await first.answer({ metadata: { resourceVersion: '50', continue: 'page2' }, items: [anObject('n1', '1')] });
    assert.equal(informer.store.size, 0);
    const second = api.nextList();
    assert.equal(second.options.continue, 'page2');
    assert.equal(second.options.limit, 500);
    await second.answer({ metadata: { resourceVersion: '50' }, items: [anObject('n2', '2')] });
    assert.deepEqual(names(), ['n1', 'n2']);
    assert.equal(api.nextWatch().options.resourceVersion, '50');
  });

  test('a list whose next page expired begins again, and the third time asks for everything at once', async () => {
    await api.nextWatch().refuse(refusal('bad-request'));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const first = api.nextList();
      assert.equal(first.options.continue, undefined);
      assert.equal(first.options.limit, 500);
      await first.answer({ metadata: { resourceVersion: '50', continue: 'next' }, items: [anObject('ghost', '1')] });
      await api.nextList().refuse(refusal('expired'));
    }
    const whole = api.nextList();
    assert.equal(whole.options.limit, undefined);
    await whole.answer({ metadata: { resourceVersion: '60' }, items: [anObject('n1', '1')] });
    assert.deepEqual(names(), ['n1'], 'nothing of a list that failed is kept');
  });

  test('a list that fails is tried again from the start, later', async () => {
    await api.nextWatch().refuse(refusal('invalid'));
    await api.nextList().refuse(refusal('unavailable'));
    assert.equal(informer.status().state, 'backing-off');
    assert.match(informer.status().lastError ?? '', /scripted unavailable/);
    await passDelay(0);
    assert.equal(api.nextWatch().options.sendInitialEvents, true);
  });

  test('the first streaming list meets a busy server: waits, and does not fall back', async () => {
    await api.nextWatch().refuse(refusal('unavailable'));
    await passDelay(0);
    await api.nextWatch().refuse(refusal('too-many-requests'));
    await passDelay(1);
    await (await api.nextWatch().accept()).send(initialEnd('1'));
    assert.equal(informer.hasSynced(), true);
  });

  test('a streaming list that is cut before its end falls back to pages', async () => {
    const stream = await api.nextWatch().accept();
    await stream.send(added('ghost', '5'));
    await stream.fail('unavailable');
    await api.nextList().answer({ metadata: { resourceVersion: '50' }, items: [] });
    assert.equal(informer.hasSynced(), true);
    assert.equal(informer.store.size, 0);
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

  test('silence of 90 s ends the watch and opens another', async () => {
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

  test('a watch that the server forgets to end is ended', async () => {
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

  test('a watch that is never accepted is given up', async () => {
    const call = api.nextWatch();
    await clock.advance(90_000);
    assert.equal(call.options.signal.aborted, true);
    assert.equal(api.nextList().options.limit, 500);
  });

  test('an error event of a busy server costs no list', async () => {
    const stream = await synced();
    await stream.send(errorEvent({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 5 } }));
    await clock.advance(4_999);
    assert.equal(api.waiting, 0);
    await clock.advance(1);
    assert.equal(api.nextWatch().options.resourceVersion, '100');
  });

  test('any other error event means a complete state, after a delay', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.send(modified('n1', '120'), errorEvent({ code: 400, reason: 'BadRequest' }));
    assert.equal(api.waiting, 0);
    await passDelay(0);
    const { options } = api.nextWatch();
    assert.equal(options.sendInitialEvents, true);
    assert.equal(options.resourceVersion, '120', 'what came before the error counts');
    assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="refused"}'), 1);
  });

  const unreadable: readonly (readonly [string, unknown])[] = [
    ['of a type nobody knows', { type: 'MOVED', object: anObject('n1', '5') }],
    ['without metadata', { type: 'ADDED', object: {} }],
    ['whose object has no name', { type: 'MODIFIED', object: { metadata: { resourceVersion: '5' } } }],
    ['without an object', { type: 'ADDED' }],
    ['that is a bookmark without a version', { type: 'BOOKMARK', object: { metadata: {} } }],
  ];
  for (const [what, broken] of unreadable) {
    test(`an event ${what} means a complete state: skipping it would leave a ghost`, async () => {
      const stream = await synced(anObject('n1', '1'));
      await clock.advance(60_000);
      await stream.send(broken as WatchEvent);
      assert.equal(stream.closed, true);
      assert.equal(api.nextWatch().options.sendInitialEvents, true);
      assert.equal(meter.series.get('reflector_relists_total{resource="nodes",cause="undecodable"}'), 1);
    });
  }

  test('a line that is no JSON means a complete state', async () => {
    const stream = await synced();
    await clock.advance(60_000);
    await stream.fail('internal');
    assert.equal(api.nextWatch().options.sendInitialEvents, true);
  });

  test('what was overtaken is ignored and counted', async () => {
    const stream = await synced(anObject('n1', '90'), anObject('n2', '91'));
    await stream.send(modified('n1', '110'), deleted('n2', '111'));
    changes.length = 0;
    const again = [modified('n1', '90'), modified('n1', '110'), added('n2', '91'), deleted('n2', '111')];
    await stream.send(...again, event('DELETED', anObject('n1', '80', { uid: 'before' })));
    assert.deepEqual(told(), []);
    assert.deepEqual(names(), ['n1']);
    assert.equal(informer.status().resourceVersion, '111');
    assert.ok((meter.series.get('reflector_stale_events_total{resource="nodes"}') ?? 0) >= 4);
  });

  test('a deletion is believed whatever its version, if it is the same object', async () => {
    const stream = await synced(anObject('n1', '90'));
    await stream.send(deleted('n1', '90'));
    assert.deepEqual(told(), ['deleted n1@90']);
  });

  test('a name that changed hands is a deletion and an addition', async () => {
    const stream = await synced(anObject('n1', '1'));
    await stream.send(event('MODIFIED', anObject('n1', '120', { uid: 'another' })));
    assert.deepEqual(told(), ['deleted n1@1', 'added n1@120']);
  });

  test('a listener that throws stops nobody, and is counted by its name', async () => {
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

  test('a late listener first hears of everything there is, and each change once', async () => {
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

  test('values that repeat are kept once', async () => {
    await synced(anObject('n1', '1'), anObject('n2', '2'));
    const first = informer.store.get('n1')?.labels;
    assert.deepEqual(first, { zone: 'a' });
    assert.equal(first, informer.store.get('n2')?.labels);
  });

  test('frames and lists are noted by the monotonic clock', async () => {
    const stream = await synced();
    const listedAtMs = clock.monotonicMs();
    clock.jumpWall(-3_600_000);
    await clock.advance(7_000);
    await stream.send(bookmark('150'));
    assert.equal(informer.status().lastListAtMs, listedAtMs);
    assert.equal(informer.status().lastFrameAtMs, listedAtMs + 7_000);
  });

  test('runs once', async () => {
    await assert.rejects(informer.run(stop.signal), /started twice/);
  });

  test('stops while a list is under way', async () => {
    await api.nextWatch().refuse(refusal('invalid'));
    stop.abort();
    await running;
    assert.equal(informer.hasSynced(), false);
  });

  test('stops while it waits to try again', async () => {
    await api.nextWatch().refuse(refusal('unavailable'));
    assert.equal(informer.status().state, 'backing-off');
    stop.abort();
    await running;
    assert.equal(api.calls, 1);
  });
});
