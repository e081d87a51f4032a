import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  SeriesBroadcaster,
  type SeriesBroadcasterOptions,
} from '../../../../src/machinery/events/series-broadcaster.ts';
import { answered, connectionLost } from '../../../support/event-server.ts';
import { aboutNode, aDraft, EventStand } from '../../../support/event-stand.ts';
import { settled } from '../../../support/manual-clock.ts';

const minuteMs = 60_000;

class Harness extends EventStand<SeriesBroadcaster> {
  constructor(over: Partial<SeriesBroadcasterOptions> = {}) {
    super((options) => new SeriesBroadcaster({ ...options, host: 'h', ...over }));
  }

  /** Records the same kind of event a number of times, a second apart, each with its own note. */
  async repeat(times: number): Promise<void> {
    for (let index = 1; index <= times; index++) {
      this.record(aDraft({ message: `m${index}` }));
      await this.clock.advance(1_000);
    }
  }

  get counts(): readonly (number | undefined)[] {
    return this.server.newerEvents.map(({ series }) => series?.count);
  }
}

test('an event is posted to events.k8s.io/v1 with all its fields', async () => {
  const harness = new Harness().start();
  await harness.recorded(aDraft());
  const nanos = BigInt(harness.clock.nowMs()) * 1_000_000n + 500_000n;
  assert.deepEqual([...harness.server.resources], ['events.events.k8s.io']);
  assert.deepEqual(harness.server.requests, [
    {
      verb: 'POST',
      name: `n1.${nanos.toString(16)}`,
      body: {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: `n1.${nanos.toString(16)}`, namespace: 'default' },
        eventTime: '2026-01-02T03:04:05.000000Z',
        reportingController: 'node-controller',
        reportingInstance: 'node-controller-h',
        action: 'NodeNotReady',
        reason: 'NodeNotReady',
        regarding: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' },
        note: 'm',
        type: 'Normal',
      },
    },
  ]);
});

test('five events within a minute: one event, its series at the second, the count at the end; the first note stays [I12]', async () => {
  const harness = new Harness().start();
  await harness.repeat(5);
  assert.equal(harness.verbs, 'POST PATCH');
  assert.deepEqual(harness.server.requests[1]?.body, {
    series: { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' },
  });
  // At the check after six minutes the last occurrence is a little over five minutes ago, at the next one more than six.
  await harness.clock.advance(11 * minuteMs);
  assert.equal(harness.verbs, 'POST PATCH');
  await harness.clock.advance(minuteMs);
  assert.equal(harness.verbs, 'POST PATCH PATCH');
  const [event] = harness.server.newerEvents;
  assert.deepEqual(event?.series, { count: 5, lastObservedTime: '2026-01-02T03:04:09.000000Z' });
  assert.equal(event?.note, 'm1');
  await harness.clock.advance(120 * minuteMs);
  assert.equal(harness.verbs, 'POST PATCH PATCH');
  await harness.recorded(aDraft());
  assert.equal(harness.verbs, 'POST PATCH PATCH POST');
});

test('an active series is written again every half hour, so that it does not expire [I12]', async () => {
  const harness = new Harness().start();
  for (let minute = 0; minute < 65; minute++) {
    harness.record();
    await harness.clock.advance(minuteMs);
  }
  assert.equal(harness.verbs, 'POST PATCH PATCH PATCH');
  // Written by the check after an hour; the events of five more minutes are counted since.
  assert.deepEqual(harness.counts, [60]);
  await harness.stop();
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  assert.deepEqual(harness.counts, [65]);
});

test('a series with one occurrence is deleted without another write', async () => {
  const harness = new Harness().start();
  harness.record();
  await harness.clock.advance(13 * minuteMs);
  assert.equal(harness.verbs, 'POST');
  await harness.recorded(aDraft());
  assert.equal(harness.verbs, 'POST POST');
});

test('events that differ only in the resourceVersion of their ObjectReference are one series [I13]', async () => {
  const harness = new Harness().start();
  for (let version = 1; version <= 5; version++) {
    const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', resourceVersion: String(version) };
    harness.record(aDraft({ about, related: { ...about, name: 'n2' } }));
  }
  await settled();
  assert.equal(harness.verbs, 'POST PATCH');
});

test('each source has its own series', async () => {
  const harness = new Harness().start();
  for (const host of ['a', 'b', 'a']) harness.broadcaster.recorder('kubelet', host).record(aDraft());
  await settled();
  const written = harness.server.newerEvents.map(({ reportingInstance, series }) => [reportingInstance, series?.count]);
  assert.deepEqual(written, [
    ['kubelet-a', 2],
    ['kubelet-b', undefined],
  ]);
});

test('a series whose event was deleted is posted again as a whole', async () => {
  const harness = new Harness().start();
  await harness.recorded(aDraft());
  harness.server.events.clear();
  await harness.recorded(aDraft());
  assert.equal(harness.verbs, 'POST PATCH POST');
  assert.deepEqual(harness.counts, [2]);
});

test('a create after a missed patch that finds the event is retried as a patch', async () => {
  const harness = new Harness().start();
  await harness.recorded(aDraft());
  const patched = [answered('not-found', 404)];
  const posted = [answered('already-exists', 409)];
  harness.server.failure = ({ verb }) => (verb === 'PATCH' ? patched.pop() : posted.pop());
  harness.record();
  await harness.clock.advance(11_249);
  assert.equal(harness.verbs, 'POST PATCH POST');
  await harness.clock.advance(1);
  assert.equal(harness.verbs, 'POST PATCH POST PATCH');
  assert.deepEqual(harness.counts, [2]);
});

test('a count that was due during an API outage is written after it', async () => {
  const harness = new Harness().start();
  await harness.repeat(5);
  harness.server.failure = connectionLost;
  await harness.clock.advance(20 * minuteMs);
  const asked = harness.server.requests.length;
  assert.deepEqual(harness.counts, [2]);
  harness.server.failure = () => undefined;
  await harness.clock.advance(6 * minuteMs);
  assert.deepEqual(harness.counts, [5]);
  assert.equal(harness.server.requests.length, asked + 1);
  assert.equal(harness.dropped('unreachable'), 0);
});

test('a series that continues before its last count is written is not finished', async () => {
  const harness = new Harness().start();
  for (const node of ['a', 'b', 'a', 'b']) harness.record(aboutNode(node));
  await harness.clock.advance(12 * minuteMs - 5_000);
  harness.server.hanging = 'until-aborted';
  await harness.recorded(aboutNode('slow'));
  harness.server.hanging = 'no';
  // At the check at twelve minutes both are finished. While `slow` is retried, one of them occurs once more.
  await harness.clock.advance(10_000);
  harness.record(aboutNode('b'));
  const from = harness.server.requests.length;
  await harness.clock.advance(minuteMs);
  const order = harness.server.requests.slice(from).map(({ verb, name }) => `${verb} ${name.split('.')[0]}`);
  assert.deepEqual(order, ['POST slow', 'PATCH a']);
  await harness.stop();
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  assert.deepEqual(harness.counts, [2, 3, undefined]);
});

test('beyond the maximum number of series the least recently used one is written and evicted', async () => {
  const harness = new Harness({ seriesMax: 2 }).start();
  await harness.repeat(4);
  for (const node of ['a', 'b']) harness.record(aboutNode(node));
  await settled();
  assert.deepEqual(harness.counts, [4, undefined, undefined]);
  await harness.repeat(1);
  assert.deepEqual(harness.counts, [4, undefined, undefined, undefined]);
});

test('due counts and events alternate: neither blocks the other', async () => {
  const harness = new Harness().start();
  for (const node of ['a', 'b', 'c']) for (let index = 0; index < 3; index++) harness.record(aboutNode(node));
  await harness.clock.advance(11 * minuteMs);
  harness.server.hanging = 'until-aborted';
  await harness.recorded(aboutNode('first'));
  await harness.clock.advance(minuteMs);
  harness.server.hanging = 'no';
  for (const node of ['d', 'e', 'f']) harness.record(aboutNode(node));
  const from = harness.server.requests.length;
  await harness.clock.advance(minuteMs);
  const order = harness.server.requests.slice(from).map(({ name }) => name.split('.')[0]);
  assert.deepEqual(order.slice(-6), ['d', 'a', 'e', 'b', 'f', 'c']);
});

test('stops at once between its tries; the flush writes the remaining events and every unwritten count', async () => {
  const harness = new Harness().start();
  await harness.repeat(4);
  harness.server.failure = connectionLost;
  harness.record(aboutNode('n2'));
  await harness.clock.advance(1_000);
  await harness.stop();
  assert.equal(harness.clock.sleeping, 0);
  harness.server.failure = () => undefined;
  harness.record(aDraft({ message: 'm5' }));
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  assert.deepEqual(harness.counts, [5, undefined]);
  harness.record();
  assert.equal(harness.dropped('stopped'), 1);
  assert.equal(harness.clock.sleeping, 0);
});

test('a flush without a server tries each count once', async () => {
  const harness = new Harness().start();
  await harness.repeat(3);
  await harness.stop();
  harness.server.failure = connectionLost;
  const asked = harness.server.requests.length;
  assert.equal(await harness.broadcaster.flush(2_000), 0);
  assert.equal(harness.server.requests.length, asked + 1);
  assert.equal(harness.dropped('unreachable'), 1);
});

test('a rejected count is not written again at shutdown, unless it increased', async () => {
  for (const [times, requests] of [
    [2, 2],
    [3, 3],
  ] as const) {
    const harness = new Harness().start();
    harness.server.failure = () => answered('forbidden', 403);
    await harness.repeat(times);
    await harness.stop();
    await harness.broadcaster.flush(2_000);
    assert.equal(harness.server.requests.length, requests);
    assert.equal(harness.dropped('rejected'), requests);
  }
});

test('the count of an evicted series is retried, and counted as dropped if it cannot be written', async () => {
  const harness = new Harness({ seriesMax: 1 }).start();
  await harness.repeat(3);
  harness.record(aboutNode('n2'));
  harness.server.failure = ({ verb }) => (verb === 'PATCH' ? connectionLost() : undefined);
  await harness.clock.advance(60_000);
  assert.ok(harness.server.requests.length > 6);
  assert.equal(harness.dropped('unreachable'), 0);
  await harness.clock.advance(60_000 + 11 * 11_250);
  assert.equal(harness.dropped('unreachable'), 1);
  assert.deepEqual(harness.counts, [2, undefined]);
});

test('property: at the end the server has the count of each event, whatever the API responded before', async () => {
  const step = fc.record({
    node: fc.nat({ max: 3 }),
    thenMs: fc.constantFrom(0, 0, 1_000, 200_000, 400_000),
    up: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (steps, seriesMax) => {
      const harness = new Harness({ seriesMax }).start();
      for (const { node, thenMs, up } of steps) {
        harness.server.failure = () => (up ? undefined : connectionLost());
        harness.record(aboutNode(`n${node}`));
        if (thenMs > 0) await harness.clock.advance(thenMs);
      }
      harness.server.failure = () => undefined;
      await harness.stop();
      assert.equal(await harness.broadcaster.flush(2_000), 0);
      const order = harness.counts.reduce<number>((sum, count) => sum + (count ?? 1), 0);
      const lost = harness.dropped('unreachable');
      assert.ok(order <= steps.length);
      assert.ok(lost > 0 || order === steps.length, `${order} of ${steps.length}`);
    }),
    { numRuns: 60 },
  );
});

test('a draft without a reason is invalid', () => {
  const harness = new Harness();
  harness.record(aDraft({ reason: '' }));
  assert.equal(harness.dropped('invalid'), 1);
});
