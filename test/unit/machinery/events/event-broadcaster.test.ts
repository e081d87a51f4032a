import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import { EventBroadcaster, type EventBroadcasterOptions } from '../../../../src/machinery/events/event-broadcaster.ts';
import { buildNodeReference } from '../../../../src/machinery/events/build-reference.ts';
import { answered, connectionLost } from '../../../support/event-server.ts';
import { aboutNode, aDraft, EventStand } from '../../../support/event-stand.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

class Harness extends EventStand<EventBroadcaster> {
  constructor(over: Partial<EventBroadcasterOptions> = {}) {
    super((options) => new EventBroadcaster({ ...options, ...over }));
  }
}

test('an event is posted with all its fields', async () => {
  const harness = new Harness().start();
  await harness.recorded(aDraft());
  const nanos = BigInt(harness.clock.nowMs()) * 1_000_000n + 500_000n;
  assert.deepEqual(harness.server.requests, [
    {
      verb: 'POST',
      name: `n1.${nanos.toString(16)}`,
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `n1.${nanos.toString(16)}`, namespace: 'default' },
        involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' },
        reason: 'NodeNotReady',
        message: 'm',
        source: { component: 'node-controller' },
        firstTimestamp: '2026-01-02T03:04:05Z',
        lastTimestamp: '2026-01-02T03:04:05Z',
        count: 1,
        type: 'Normal',
        eventTime: null,
        reportingComponent: 'node-controller',
        reportingInstance: '',
      },
    },
  ]);
});

test('each recorder sets its own component, and its host if any', async () => {
  const harness = new Harness({ host: 'n1' }).start();
  harness.broadcaster.recorder('kubelet').record(aDraft());
  harness.broadcaster.recorder('taint-eviction-controller').record(aDraft());
  await settled();
  const sources = harness.events.map(({ source }) => source);
  assert.deepEqual(sources, [
    { component: 'kubelet', host: 'n1' },
    { component: 'taint-eviction-controller', host: 'n1' },
  ]);
});

test('the name of an event is its object and the time in nanoseconds [H1]', async () => {
  const nanos = 0x17a1b2c3d4e5f600n;
  const clock = new ManualClock(Number(nanos / 1_000_000n));
  const belowMs = Number(nanos % 1_000_000n) + 0.5;
  const harness = new Harness({ clock, random: { next: () => belowMs / 1_000_000 } }).start();
  await harness.recorded(aDraft({ about: { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'web' } }));
  const [event] = harness.server.events.values();
  assert.deepEqual(event?.metadata, { name: 'web.17a1b2c3d4e5f600', namespace: 'a' });
  assert.equal(event?.count, 1);
  assert.equal(event?.firstTimestamp, event?.lastTimestamp);
});

test('the time of a draft with its own clock is used', async () => {
  const harness = new Harness().start();
  await harness.recorded({ ...aDraft(), reportedAtMs: Date.parse('2030-01-01T00:00:00Z') });
  const [event] = harness.server.events.values();
  assert.equal(event?.firstTimestamp, '2030-01-01T00:00:00Z');
});

test('an event of a kubelet about its node has the default namespace and the host [H2]', async () => {
  const harness = new Harness().start();
  harness.broadcaster.recorder('kubelet', 'n1').record(aDraft({ about: buildNodeReference('n1', 'u-1') }));
  await settled();
  const [event] = harness.server.events.values();
  assert.equal(event?.metadata.namespace, 'default');
  assert.deepEqual(event?.involvedObject, { kind: 'Node', name: 'n1', uid: 'u-1', apiVersion: 'v1' });
  assert.deepEqual(event?.source, { component: 'kubelet', host: 'n1' });
});

test('an event about an object with an invalid name gets a UUID as name [H5]', async () => {
  const harness = new Harness().start();
  await harness.recorded(aboutNode('Bad_Name'));
  const [event] = harness.server.events.values();
  assert.match(event?.metadata.name ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(event?.involvedObject.name, 'Bad_Name');
});

test('twelve messages a second apart: nine events, and one combined event for three [I2] [I15]', async () => {
  const harness = new Harness().start();
  const annotations = { a: 'b' };
  for (let index = 1; index <= 12; index++) {
    harness.record(aDraft({ message: `m${index}`, annotations }));
    await harness.clock.advance(1_000);
  }
  const events = harness.events;
  assert.equal(events.length, 10);
  assert.ok(events.slice(0, 9).every(({ count, metadata }) => count === 1 && metadata.annotations?.['a'] === 'b'));
  const combined = events.at(-1);
  assert.deepEqual([combined?.message, combined?.count], ['(combined from similar events): m12', 3]);
  assert.equal(combined?.metadata.annotations, undefined);
});

test('sources are independent: rate limit and correlation state are per source', async () => {
  const harness = new Harness({ entriesMax: 2 }).start();
  const record = (host: string, node: string): void =>
    harness.broadcaster.recorder('kubelet', host).record(aboutNode(node));
  for (let index = 0; index < 26; index++) record('n1', 'n1');
  for (let index = 0; index < 25; index++) record('n2', 'n1');
  for (const node of ['a', 'b', 'c']) record('n3', node);
  await settled();
  assert.equal(harness.dropped('spam'), 1);
  await harness.clock.advance(300_000);
  record('n1', 'n1');
  record('n2', 'n1');
  record('n3', 'a');
  await settled();
  const written = harness.events.map(({ source, involvedObject, count }) => [source.host, involvedObject.name, count]);
  assert.deepEqual(written, [
    ['n1', 'n1', 27],
    ['n2', 'n1', 26],
    ['n3', 'a', 1],
    ['n3', 'b', 1],
    ['n3', 'c', 1],
    ['n3', 'a', 1],
  ]);
});

test('beyond the maximum number of sources the least recently used one is evicted', async () => {
  const harness = new Harness({ sourcesMax: 2 }).start();
  for (const host of ['a', 'b', 'c', 'a', 'c']) {
    harness.broadcaster.recorder('kubelet', host).record(aDraft());
    await settled();
  }
  assert.equal(harness.verbs, 'POST POST POST POST PATCH');
});

test('repeats are patches of count, lastTimestamp and message [I1]', async () => {
  const harness = new Harness().start();
  for (let repeat = 0; repeat < 3; repeat++) {
    harness.record();
    await harness.clock.advance(1_000);
  }
  assert.equal(harness.verbs, 'POST PATCH PATCH');
  assert.deepEqual(harness.server.requests[2]?.body, { count: 3, lastTimestamp: '2026-01-02T03:04:07Z', message: 'm' });
  const [event] = harness.server.events.values();
  assert.equal(harness.server.events.size, 1);
  assert.deepEqual([event?.count, event?.firstTimestamp], [3, '2026-01-02T03:04:05Z']);
});

test('a repeat of a deleted event is posted again, with its full count [I6]', async () => {
  const harness = new Harness().start();
  harness.record();
  await harness.recorded(aDraft());
  harness.server.events.clear();
  await harness.recorded(aDraft());
  assert.equal(harness.verbs, 'POST PATCH PATCH POST');
  const [event] = harness.server.events.values();
  assert.deepEqual([event?.count, event?.metadata.resourceVersion], [3, undefined]);
});

test('a response with Retry-After is not final: the event is retried after that delay, twelve tries at most', async () => {
  const harness = new Harness().start();
  const tries: number[] = [];
  const startMs = harness.clock.monotonicMs();
  harness.server.failure = () => {
    tries.push((harness.clock.monotonicMs() - startMs) / 1_000);
    const init = { reason: 'too-many-requests', code: 429, message: 'later' } as const;
    return new ApiError({ ...init, retryAfterMs: tries.length === 1 ? 0 : 30_000 });
  };
  harness.record();
  await harness.clock.advance(400_000);
  assert.equal(tries.length, 12);
  const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  assert.ok((waits[0] ?? 0) >= 1 && (waits[0] ?? 0) <= 1.2, `after Retry-After: 0 it waits for ${waits[0]} s`);
  const late = waits.slice(1).filter((wait) => wait < 30 || wait > 36);
  assert.deepEqual(late, []);
  assert.equal(harness.dropped('unreachable'), 1);
});

test('a 401 is not final: credentials may have been replaced', async () => {
  const harness = new Harness().start();
  let failures = 1;
  harness.server.failure = () => (failures-- > 0 ? answered('unauthorized', 401) : undefined);
  harness.record();
  await harness.clock.advance(10_000);
  assert.equal(harness.verbs, 'POST POST');
  assert.equal(harness.dropped('rejected'), 0);
});

test('a request that cannot be made is not retried', async () => {
  const harness = new Harness().start();
  harness.server.failure = () => new ApiError({ reason: 'bad-request', message: 'no namespace' });
  harness.record();
  await harness.clock.advance(200_000);
  assert.equal(harness.verbs, 'POST');
  assert.equal(harness.dropped('rejected'), 1);
});

test('an API outage of ten minutes drops only the events at the head of the queue', async () => {
  const harness = new Harness().start();
  harness.server.failure = connectionLost;
  for (let minute = 0; minute < 10; minute++) {
    harness.record(aboutNode(`away-${minute}`));
    await harness.clock.advance(60_000);
  }
  // Twelve tries take 105 s with this random value: five were dropped, the sixth is in progress, the others are queued.
  assert.equal(harness.dropped('unreachable'), 5);
  assert.equal(harness.broadcaster.pending, 5);
  harness.server.failure = () => undefined;
  harness.record(aboutNode('back'));
  await harness.clock.advance(10_000);
  assert.equal(harness.broadcaster.pending, 0);
  assert.deepEqual(harness.names, ['away-5', 'away-6', 'away-7', 'away-8', 'away-9', 'back']);
});

test('the same event about two containers of one pod is written twice', async () => {
  const harness = new Harness().start();
  for (const container of ['a', 'b']) {
    const about = { kind: 'Pod', namespace: 'd', name: 'p', fieldPath: `spec.containers{${container}}` };
    harness.record(aDraft({ about, reason: 'Started' }));
  }
  await settled();
  const paths = harness.events.map(({ involvedObject }) => involvedObject.fieldPath);
  assert.deepEqual(paths, ['spec.containers{a}', 'spec.containers{b}']);
  assert.equal(harness.verbs, 'POST POST');
});

test('a request without a response counts as lost after ten seconds', async () => {
  const harness = new Harness().start();
  harness.server.hanging = 'ignores-signal';
  harness.record();
  await harness.clock.advance(9_999);
  harness.server.hanging = 'no';
  await harness.clock.advance(1 + 5_000);
  assert.deepEqual([harness.verbs, harness.server.events.size], ['POST POST', 1]);
});

test('spam is dropped and counted [I4]', async () => {
  const harness = new Harness().start();
  for (let index = 0; index < 30; index++) harness.record();
  await settled();
  assert.equal(harness.server.requests.length, 25);
  assert.equal(harness.dropped('spam'), 5);
  const count = (): number | undefined => harness.events[0]?.count;
  assert.equal(count(), 25);
  await harness.clock.advance(300_000);
  await harness.recorded(aDraft());
  assert.equal(harness.server.requests.at(-1)?.verb, 'PATCH');
  assert.equal(count(), 31);
});

test('a queue of 25 with a stuck server: 25 events are queued, the rest is dropped, recording does not block [H9]', async () => {
  const harness = new Harness({ queueMax: 25 }).start();
  harness.server.hanging = 'until-aborted';
  for (let index = 0; index < 30; index++) harness.record(aboutNode(`n${index}`));
  assert.equal(harness.broadcaster.pending, 25);
  assert.equal(harness.dropped('queue-full'), 5);
  await settled();
  assert.equal(harness.broadcaster.pending, 25);
});

test('an unknown type: no event, one log line [H3]', async () => {
  const harness = new Harness().start();
  await harness.recorded(aDraft({ type: 'Info' as 'Normal' }));
  assert.equal(harness.server.requests.length, 0);
  const lines = harness.logger.lines.map(({ level, message }) => [level, message]);
  assert.deepEqual(lines, [['warn', 'invalid event dropped']]);
});

test('shutdown after ten events: all ten are written; later events are dropped and logged [H10]', async () => {
  const harness = new Harness().start();
  for (let index = 0; index < 10; index++) harness.record(aboutNode(`n${index}`));
  await harness.stop();
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  await harness.recorded(aboutNode('late'));
  assert.equal(harness.server.events.size, 10);
  assert.equal(harness.dropped('stopped'), 1);
  assert.equal(harness.logger.lines.at(-1)?.message, 'event dropped: recorded after shutdown');
});

test('events recorded before the start are written at the start', async () => {
  const harness = new Harness();
  harness.record();
  harness.start();
  await settled();
  assert.equal(harness.server.events.size, 1);
});

test('stops at once between its tries; a flush tries each remaining event once [I16]', async () => {
  const harness = new Harness().start();
  harness.server.failure = connectionLost;
  harness.record(aboutNode('n1'));
  harness.record(aboutNode('n2'));
  await harness.clock.advance(1_000);
  await harness.stop();
  assert.equal(harness.clock.sleeping, 0);
  harness.server.failure = ({ name }) => (name.startsWith('n1') ? connectionLost() : undefined);
  harness.record(aboutNode('n3'));
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  assert.deepEqual(harness.names, ['n2', 'n3']);
  assert.equal(harness.dropped('unreachable'), 1);
  harness.record();
  assert.equal(harness.dropped('stopped'), 1);
  assert.equal(harness.clock.sleeping, 0);
});

test('an event whose request was aborted at shutdown is neither lost nor duplicated by the flush', async () => {
  const harness = new Harness().start();
  harness.server.hanging = 'until-aborted';
  await harness.recorded(aDraft());
  await harness.stop();
  assert.equal(harness.broadcaster.pending, 1);
  harness.server.hanging = 'no';
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  assert.deepEqual([harness.verbs, harness.events[0]?.count], ['POST POST', 1]);
});

test('a flush of a running broadcaster waits for it and does not close it', async () => {
  const harness = new Harness().start();
  let failures = 1;
  harness.server.failure = () => (failures-- > 0 ? connectionLost() : undefined);
  harness.record();
  let left: number | undefined;
  const flushed = harness.broadcaster.flush(20_000).then((count) => {
    left = count;
  });
  await harness.clock.advance(4_999);
  assert.equal(left, undefined);
  await harness.clock.advance(1);
  await flushed;
  assert.equal(left, 0);
  await harness.recorded(aDraft());
  assert.equal(harness.events[0]?.count, 2);
  harness.server.failure = connectionLost;
  harness.record();
  const short = harness.broadcaster.flush(1_000);
  await harness.clock.advance(1_000);
  assert.equal(await short, 1);
});

test('a flush during which run ends writes the remaining events itself', async () => {
  const harness = new Harness().start();
  harness.server.failure = connectionLost;
  await harness.recorded(aDraft());
  const flushed = harness.broadcaster.flush(2_000);
  harness.server.failure = () => undefined;
  await harness.stop();
  assert.equal(await flushed, 0);
  assert.equal(harness.server.events.size, 1);
});

test('property: the queue is bounded, and every event is written, queued, or counted as dropped', async () => {
  type Step = { readonly node: number; readonly message: number; readonly thenMs: number; readonly up: boolean };
  const step: fc.Arbitrary<Step> = fc.record({
    node: fc.nat({ max: 5 }),
    message: fc.nat({ max: 12 }),
    thenMs: fc.constantFrom(0, 0, 0, 100, 20_000),
    up: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 40 }), async (queueMax, steps) => {
      const harness = new Harness({ queueMax }).start();
      for (const { node, message, thenMs, up } of steps) {
        harness.server.failure = () => (up ? undefined : connectionLost());
        harness.record({ ...aboutNode(`n${node}`), message: `m${message}` });
        assert.ok(harness.broadcaster.pending <= queueMax);
        if (thenMs > 0) await harness.clock.advance(thenMs);
      }
      harness.server.failure = () => undefined;
      await harness.stop();
      assert.equal(await harness.broadcaster.flush(2_000), 0);
      const gone = harness.dropped('queue-full') + harness.dropped('spam') + harness.dropped('unreachable');
      const counted = harness.events.reduce((total, { count }) => total + count, 0);
      // Events dropped as spam or as unreachable are part of the count of a later repeat, if there was one.
      assert.ok(counted <= steps.length - harness.dropped('queue-full'));
      assert.ok(counted + gone >= steps.length);
    }),
    { numRuns: 60 },
  );
});
