import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ApiError } from '../../../src/api/api-error.ts';
import { eventQueueMax } from '../../../src/events/event-queue.ts';
import { SeriesBroadcaster, type SeriesBroadcasterOptions } from '../../../src/events/series-broadcaster.ts';
import { answered, connectionLost } from '../../support/event-server.ts';
import { aboutNode, aDraft, EventStand } from '../../support/event-stand.ts';
import { settled } from '../../support/manual-clock.ts';

const minuteMs = 60_000;

class Stand extends EventStand<SeriesBroadcaster> {
  constructor(over: Partial<SeriesBroadcasterOptions> = {}) {
    super((options) => new SeriesBroadcaster({ ...options, host: 'h', ...over }));
  }

  /** The same kind of event so many times, a second apart, each with a note of its own. */
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

test('an event as it is posted, to its own API', async () => {
  const stand = new Stand().start();
  stand.record();
  await settled();
  const nanos = BigInt(stand.clock.nowMs()) * 1_000_000n + 500_000n;
  assert.deepEqual([...stand.server.resources], ['events.events.k8s.io']);
  assert.deepEqual(stand.server.requests, [
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
  await stand.stop();
});

test('five within a minute: one event, its series at the second, the rest when it is over; the first note stays [I12]', async () => {
  const stand = new Stand().start();
  await stand.repeat(5);
  assert.equal(stand.verbs, 'POST PATCH');
  assert.deepEqual(stand.server.requests[1]?.body, {
    series: { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' },
  });
  // The look after six minutes finds it five minutes and some old, the next one more than six.
  await stand.clock.advance(11 * minuteMs);
  assert.equal(stand.verbs, 'POST PATCH');
  await stand.clock.advance(minuteMs);
  assert.equal(stand.verbs, 'POST PATCH PATCH');
  const [event] = stand.server.newerEvents;
  assert.deepEqual(event?.series, { count: 5, lastObservedTime: '2026-01-02T03:04:09.000000Z' });
  assert.equal(event?.note, 'm1');
  await stand.clock.advance(120 * minuteMs);
  assert.equal(stand.verbs, 'POST PATCH PATCH');
  stand.record();
  await settled();
  assert.equal(stand.verbs, 'POST PATCH PATCH POST');
  await stand.stop();
});

test('a series that goes on is told again every half hour, lest it expires [I12]', async () => {
  const stand = new Stand().start();
  for (let minute = 0; minute < 65; minute++) {
    stand.record();
    await stand.clock.advance(minuteMs);
  }
  assert.equal(stand.verbs, 'POST PATCH PATCH PATCH');
  // Told by the look after an hour, and five more minutes counted since.
  assert.deepEqual(stand.counts, [60]);
  await stand.stop();
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  assert.deepEqual(stand.counts, [65]);
});

test('what happened once is forgotten without another word', async () => {
  const stand = new Stand().start();
  stand.record();
  await stand.clock.advance(13 * minuteMs);
  assert.equal(stand.verbs, 'POST');
  stand.record();
  await settled();
  assert.equal(stand.verbs, 'POST POST');
  await stand.stop();
});

test('a version in the reference does not keep events apart [I13]', async () => {
  const stand = new Stand().start();
  for (let version = 1; version <= 5; version++) {
    const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', resourceVersion: String(version) };
    stand.record(aDraft({ about, related: { ...about, name: 'n2' } }));
  }
  await settled();
  assert.equal(stand.verbs, 'POST PATCH');
  await stand.stop();
});

test('each source has its own series', async () => {
  const stand = new Stand().start();
  for (const host of ['a', 'b', 'a']) stand.broadcaster.recorder('kubelet', host).record(aDraft());
  await settled();
  assert.deepEqual(
    stand.server.newerEvents.map(({ reportingInstance, series }) => [reportingInstance, series?.count]),
    [
      ['kubelet-a', 2],
      ['kubelet-b', undefined],
    ],
  );
  await stand.stop();
});

test('many of one millisecond have names of their own', async () => {
  const stand = new Stand().start();
  for (let index = 0; index < 100; index++) stand.record(aDraft({ reason: `R${index}` }));
  await settled();
  assert.equal(stand.server.events.size, 100);
  await stand.stop();
});

test('a series whose event is gone is posted anew, as a whole', async () => {
  const stand = new Stand().start();
  stand.record();
  await settled();
  stand.server.events.clear();
  stand.record();
  await settled();
  assert.equal(stand.verbs, 'POST PATCH POST');
  assert.deepEqual(stand.counts, [2]);
  await stand.stop();
});

test('an event that was not there to be patched and then was is patched after all', async () => {
  const stand = new Stand().start();
  stand.record();
  await settled();
  const patched = [answered('not-found', 404)];
  const posted = [answered('already-exists', 409)];
  stand.server.failure = ({ verb }) => (verb === 'PATCH' ? patched.pop() : posted.pop());
  stand.record();
  await stand.clock.advance(11_249);
  assert.equal(stand.verbs, 'POST PATCH POST');
  await stand.clock.advance(1);
  assert.equal(stand.verbs, 'POST PATCH POST PATCH');
  assert.deepEqual(stand.counts, [2]);
  await stand.stop();
});

for (const failure of [answered('forbidden', 403), answered('invalid', 422), answered('internal', 500)])
  test(`an answer of ${failure.code} is final`, async () => {
    const stand = new Stand().start();
    stand.server.failure = () => failure;
    stand.record();
    await stand.clock.advance(200_000);
    assert.equal(stand.verbs, 'POST');
    assert.equal(stand.dropped('rejected'), 1);
    assert.equal(stand.logger.lines.filter(({ level }) => level === 'warn').length, 1);
    await stand.stop();
  });

test('a namespace that is being deleted takes no events, and nobody is told of it', async () => {
  const stand = new Stand().start();
  const status = { details: { causes: [{ reason: 'NamespaceTerminating' }] } };
  stand.server.failure = () => new ApiError({ reason: 'forbidden', code: 403, message: 'no', status });
  stand.record();
  await settled();
  assert.equal(stand.dropped('rejected'), 1);
  assert.ok(stand.logger.lines.every(({ level }) => level === 'debug'));
  await stand.stop();
});

test('failures on the way: twelve tries, each wait up to a quarter longer, then the next event', async () => {
  const stand = new Stand().start();
  const tries: number[] = [];
  const startMs = stand.clock.monotonicMs();
  stand.server.failure = ({ name }) => {
    if (name.startsWith('n1')) tries.push((stand.clock.monotonicMs() - startMs) / 1_000);
    return name.startsWith('n1') ? connectionLost() : undefined;
  };
  stand.record();
  stand.record(aboutNode('n2'));
  await stand.clock.advance(11 * 11_250 - 1);
  assert.equal(stand.server.events.size, 0);
  await stand.clock.advance(1);
  assert.deepEqual(
    tries,
    Array.from({ length: 12 }, (_, index) => index * 11.25),
  );
  assert.equal(stand.dropped('unreachable'), 1);
  assert.equal(stand.server.events.size, 1);
  await stand.stop();
});

test('an API that is away for ten minutes: a bounded queue, counted drops, and everything goes on afterwards', async () => {
  const stand = new Stand().start();
  stand.server.failure = connectionLost;
  for (let index = 0; index < 1_500; index++) stand.record(aboutNode(`n${index}`));
  await stand.clock.advance(10 * minuteMs);
  assert.equal(stand.dropped('queue-full'), 500);
  const givenUp = stand.dropped('unreachable');
  assert.ok(givenUp > 0 && givenUp < 10, `${givenUp}`);
  stand.server.failure = () => undefined;
  await stand.clock.advance(minuteMs);
  assert.deepEqual(
    stand.server.newerEvents.map(({ regarding }) => regarding.name),
    Array.from({ length: eventQueueMax - givenUp }, (_, index) => `n${index + givenUp}`),
  );
  await stand.stop();
});

test('a count that was due while the API was away is told when it is back', async () => {
  const stand = new Stand().start();
  await stand.repeat(5);
  stand.server.failure = connectionLost;
  await stand.clock.advance(20 * minuteMs);
  const asked = stand.server.requests.length;
  assert.deepEqual(stand.counts, [2]);
  stand.server.failure = () => undefined;
  await stand.clock.advance(6 * minuteMs);
  assert.deepEqual(stand.counts, [5]);
  assert.equal(stand.server.requests.length, asked + 1);
  assert.equal(stand.dropped('unreachable'), 0);
  await stand.stop();
});

test('an event that arrived though its answer was lost is not dropped when it is sent again', async () => {
  const stand = new Stand().start();
  let failures = 1;
  stand.server.late = true;
  stand.server.failure = () => (failures-- > 0 ? connectionLost() : undefined);
  stand.record();
  await stand.clock.advance(12_500);
  assert.equal(stand.verbs, 'POST POST');
  assert.equal(stand.server.events.size, 1);
  assert.equal(stand.dropped('rejected'), 0);
  await stand.stop();
});

test('a series that goes on after all before its last count is told is not ended', async () => {
  const stand = new Stand().start();
  for (const node of ['a', 'b', 'a', 'b']) stand.record(aboutNode(node));
  await stand.clock.advance(12 * minuteMs - 5_000);
  stand.server.hanging = 'until-aborted';
  stand.record(aboutNode('slow'));
  await settled();
  stand.server.hanging = 'no';
  // The look at twelve minutes finds both over. While `slow` is tried again, one of them happens once more.
  await stand.clock.advance(10_000);
  stand.record(aboutNode('b'));
  const from = stand.server.requests.length;
  await stand.clock.advance(minuteMs);
  const told = stand.server.requests.slice(from).map(({ verb, name }) => `${verb} ${name.split('.')[0]}`);
  assert.deepEqual(told, ['POST slow', 'PATCH a']);
  await stand.stop();
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  assert.deepEqual(stand.counts, [2, 3, undefined]);
});

test('of too many kinds the one that did not happen for longest is told to its end and starts over', async () => {
  const stand = new Stand({ seriesMax: 2 }).start();
  await stand.repeat(4);
  for (const node of ['a', 'b']) stand.record(aboutNode(node));
  await settled();
  assert.deepEqual(stand.counts, [4, undefined, undefined]);
  await stand.repeat(1);
  assert.deepEqual(stand.counts, [4, undefined, undefined, undefined]);
  await stand.stop();
});

test('due counts and events take turns: neither keeps the other from being told', async () => {
  const stand = new Stand().start();
  for (const node of ['a', 'b', 'c']) for (let index = 0; index < 3; index++) stand.record(aboutNode(node));
  await stand.clock.advance(11 * minuteMs);
  stand.server.hanging = 'until-aborted';
  stand.record(aboutNode('first'));
  await settled();
  await stand.clock.advance(minuteMs);
  stand.server.hanging = 'no';
  for (const node of ['d', 'e', 'f']) stand.record(aboutNode(node));
  const from = stand.server.requests.length;
  await stand.clock.advance(minuteMs);
  const order = stand.server.requests.slice(from).map(({ name }) => name.split('.')[0]);
  assert.deepEqual(order.slice(-6), ['d', 'a', 'e', 'b', 'f', 'c']);
  await stand.stop();
});

test('stops at once in the middle of its tries; the flush tells what is left, and every count not yet told', async () => {
  const stand = new Stand().start();
  await stand.repeat(4);
  stand.server.failure = connectionLost;
  stand.record(aboutNode('n2'));
  await stand.clock.advance(1_000);
  await stand.stop();
  assert.equal(stand.clock.sleeping, 0);
  stand.server.failure = () => undefined;
  stand.record(aDraft({ message: 'm5' }));
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  assert.deepEqual(stand.counts, [5, undefined]);
  stand.record();
  assert.equal(stand.dropped('stopped'), 1);
  assert.equal(stand.clock.sleeping, 0);
});

test('a flush ends on time, whatever the server does, and says what is left', async () => {
  const stand = new Stand();
  stand.server.hanging = 'deaf';
  for (let index = 0; index < 5; index++) stand.record(aboutNode(`n${index}`));
  const flushed = stand.broadcaster.flush(2_000);
  await stand.clock.advance(2_000);
  assert.equal(await flushed, 5);
  assert.equal(stand.dropped('stopped'), 5);
  assert.equal(stand.clock.sleeping, 0);
});

test('a flush whose server is away asks for each count once', async () => {
  const stand = new Stand().start();
  await stand.repeat(3);
  await stand.stop();
  stand.server.failure = connectionLost;
  const asked = stand.server.requests.length;
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  assert.equal(stand.server.requests.length, asked + 1);
  assert.equal(stand.dropped('unreachable'), 1);
});

test('a count that was refused is not asked for again at the end, unless it went up', async () => {
  for (const [times, requests] of [
    [2, 2],
    [3, 3],
  ] as const) {
    const stand = new Stand().start();
    stand.server.failure = () => answered('forbidden', 403);
    await stand.repeat(times);
    await stand.stop();
    await stand.broadcaster.flush(2_000);
    assert.equal(stand.server.requests.length, requests);
    assert.equal(stand.dropped('rejected'), requests);
  }
});

test('the count of what had to go is told with patience, and counted as dropped if it cannot be', async () => {
  const stand = new Stand({ seriesMax: 1 }).start();
  await stand.repeat(3);
  stand.record(aboutNode('n2'));
  stand.server.failure = ({ verb }) => (verb === 'PATCH' ? connectionLost() : undefined);
  await stand.clock.advance(60_000);
  assert.ok(stand.server.requests.length > 6);
  assert.equal(stand.dropped('unreachable'), 0);
  await stand.clock.advance(60_000 + 11 * 11_250);
  assert.equal(stand.dropped('unreachable'), 1);
  assert.deepEqual(stand.counts, [2, undefined]);
  await stand.stop();
});

test('what no event can be made of is dropped; recording never throws', () => {
  const stand = new Stand();
  stand.record(aDraft({ type: 'Info' as 'Normal' }));
  stand.record(aDraft({ reason: '' }));
  stand.record(aboutNode(''));
  stand.clock.jumpWall(Number.NaN);
  stand.record();
  assert.equal(stand.dropped('invalid'), 4);
  assert.equal(stand.broadcaster.pending, 0);
});

test('two at a time is a mistake', async () => {
  const stand = new Stand().start();
  await assert.rejects(stand.broadcaster.run(new AbortController().signal), /running already/);
  await stand.stop();
  assert.equal(stand.clock.sleeping, 0);
});

test('it can be watched as the other', async () => {
  const stand = new Stand();
  const lines: string[] = [];
  stand.broadcaster.startLogging((line) => lines.push(line));
  stand.record();
  await settled();
  assert.match(
    lines[0] ?? '',
    /^Event\(v1\.ObjectReference\{Kind:"Node", .*\}\): type: 'Normal' reason: 'NodeNotReady' m$/,
  );
});

test('law: at the end the server knows how often each thing happened, whatever the API did on the way', async () => {
  const step = fc.record({
    node: fc.nat({ max: 3 }),
    thenMs: fc.constantFrom(0, 0, 1_000, 200_000, 400_000),
    up: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (steps, seriesMax) => {
      const stand = new Stand({ seriesMax }).start();
      for (const { node, thenMs, up } of steps) {
        stand.server.failure = () => (up ? undefined : connectionLost());
        stand.record(aboutNode(`n${node}`));
        if (thenMs > 0) await stand.clock.advance(thenMs);
      }
      stand.server.failure = () => undefined;
      await stand.stop();
      assert.equal(await stand.broadcaster.flush(2_000), 0);
      const told = stand.counts.reduce<number>((sum, count) => sum + (count ?? 1), 0);
      const lost = stand.dropped('unreachable');
      assert.ok(told <= steps.length);
      assert.ok(lost > 0 || told === steps.length, `${told} of ${steps.length}`);
    }),
    { numRuns: 60 },
  );
});
