import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ApiError } from '../../../src/api/api-error.ts';
import { EventBroadcaster, type EventBroadcasterOptions } from '../../../src/events/event-broadcaster.ts';
import { eventQueueMax } from '../../../src/events/event-queue.ts';
import { deriveNodeReference } from '../../../src/events/derive-node-reference.ts';
import { answered, connectionLost } from '../../support/event-server.ts';
import { aboutNode, aDraft, EventStand } from '../../support/event-stand.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

class Stand extends EventStand<EventBroadcaster> {
  constructor(over: Partial<EventBroadcasterOptions> = {}) {
    super((options) => new EventBroadcaster({ ...options, ...over }));
  }
}

test('an event as it is posted', async () => {
  const stand = new Stand().start();
  stand.record();
  await settled();
  const nanos = BigInt(stand.clock.nowMs()) * 1_000_000n + 500_000n;
  assert.deepEqual(stand.server.requests, [
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
  await stand.stop();
});

test('each recorder speaks in its own name, for the host where there is one', async () => {
  const stand = new Stand({ host: 'n1' }).start();
  stand.broadcaster.recorder('kubelet').record(aDraft());
  stand.broadcaster.recorder('taint-eviction-controller').record(aDraft());
  await settled();
  const sources = [...stand.server.events.values()].map(({ source }) => source);
  assert.deepEqual(sources, [
    { component: 'kubelet', host: 'n1' },
    { component: 'taint-eviction-controller', host: 'n1' },
  ]);
  await stand.stop();
});

test('a name is the object and the time of the event, to the nanosecond [H1]', async () => {
  const nanos = 0x17a1b2c3d4e5f600n;
  const clock = new ManualClock(Number(nanos / 1_000_000n));
  const belowMs = Number(nanos % 1_000_000n) + 0.5;
  const stand = new Stand({ clock, random: { next: () => belowMs / 1_000_000 } }).start();
  stand.record(aDraft({ about: { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'web' } }));
  await settled();
  const [event] = stand.server.events.values();
  assert.deepEqual(event?.metadata, { name: 'web.17a1b2c3d4e5f600', namespace: 'a' });
  assert.equal(event?.count, 1);
  assert.equal(event?.firstTimestamp, event?.lastTimestamp);
  await stand.stop();
});

test('whoever tells by a clock of their own is believed', async () => {
  const stand = new Stand().start();
  stand.record({ ...aDraft(), toldAtMs: Date.parse('2030-01-01T00:00:00Z') });
  await settled();
  const [event] = stand.server.events.values();
  assert.equal(event?.firstTimestamp, '2030-01-01T00:00:00Z');
  await stand.stop();
});

test('a kubelet about its node: by name, in the default namespace, for its host [H2]', async () => {
  const stand = new Stand().start();
  stand.broadcaster.recorder('kubelet', 'n1').record(aDraft({ about: deriveNodeReference({ name: 'n1' }) }));
  await settled();
  const [event] = stand.server.events.values();
  assert.equal(event?.metadata.namespace, 'default');
  assert.deepEqual(event?.involvedObject, { kind: 'Node', name: 'n1', uid: 'n1' });
  assert.deepEqual(event?.source, { component: 'kubelet', host: 'n1' });
  await stand.stop();
});

test('two events of one millisecond about one object have two names, and both are stored [H4]', async () => {
  const stand = new Stand().start();
  stand.record(aDraft({ reason: 'A' }));
  stand.record(aDraft({ reason: 'B' }));
  await settled();
  assert.deepEqual(
    [...stand.server.events.values()].map(({ reason }) => reason),
    ['A', 'B'],
  );
  await stand.stop();
});

test('an object whose name cannot be part of a name gets its event all the same [H5]', async () => {
  const stand = new Stand().start();
  stand.record(aboutNode('Bad_Name'));
  await settled();
  const [event] = stand.server.events.values();
  assert.match(event?.metadata.name ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(event?.involvedObject.name, 'Bad_Name');
  await stand.stop();
});

test('twelve messages a second apart: nine events, and one that stands for three [I2] [I15]', async () => {
  const stand = new Stand().start();
  const annotations = { a: 'b' };
  for (let index = 1; index <= 12; index++) {
    stand.record(aDraft({ message: `m${index}`, annotations }));
    await stand.clock.advance(1_000);
  }
  const events = [...stand.server.events.values()];
  assert.equal(events.length, 10);
  assert.ok(events.slice(0, 9).every(({ count, metadata }) => count === 1 && metadata.annotations?.['a'] === 'b'));
  const combined = events.at(-1);
  assert.equal(combined?.message, '(combined from similar events): m12');
  assert.equal(combined?.count, 3);
  assert.equal(combined?.metadata.annotations, undefined);
  await stand.stop();
});

test('what one source tells uses up nothing of another: neither its allowance nor its memory', async () => {
  const stand = new Stand({ correlator: { entriesMax: 2 } }).start();
  const tell = (host: string, node: string): void =>
    stand.broadcaster.recorder('kubelet', host).record(aboutNode(node));
  for (let index = 0; index < 26; index++) tell('n1', 'n1');
  for (let index = 0; index < 25; index++) tell('n2', 'n1');
  for (const node of ['a', 'b', 'c']) tell('n3', node);
  await settled();
  assert.equal(stand.dropped('spam'), 1);
  await stand.clock.advance(300_000);
  tell('n1', 'n1');
  tell('n2', 'n1');
  tell('n3', 'a');
  await settled();
  assert.deepEqual(
    [...stand.server.events.values()].map(({ source, involvedObject, count }) => [
      source.host,
      involvedObject.name,
      count,
    ]),
    [
      ['n1', 'n1', 27],
      ['n2', 'n1', 26],
      ['n3', 'a', 1],
      ['n3', 'b', 1],
      ['n3', 'c', 1],
      ['n3', 'a', 1],
    ],
  );
  await stand.stop();
});

test('of too many sources the one that told nothing for longest starts over', async () => {
  const stand = new Stand({ sourcesMax: 2 }).start();
  for (const host of ['a', 'b', 'c', 'a', 'c']) {
    stand.broadcaster.recorder('kubelet', host).record(aDraft());
    await settled();
  }
  assert.equal(stand.verbs, 'POST POST POST POST PATCH');
  await stand.stop();
});

test('other numbers than the usual ones', async () => {
  const options = { similarMax: 2, similarWindowMs: 1_000, spamBurst: 3, spamRefillMs: 1_000 };
  const combinedMessage = ({ message }: { message: string }): string => `and ${message}`;
  const stand = new Stand({ correlator: { ...options, combinedMessage } }).start();
  for (const message of ['a', 'b', 'c', 'd']) stand.record(aDraft({ message }));
  await settled();
  assert.deepEqual(
    [...stand.server.events.values()].map(({ message, count }) => [message, count]),
    [
      ['a', 1],
      ['and c', 2],
    ],
  );
  assert.equal(stand.dropped('spam'), 1);
  await stand.clock.advance(1_001);
  stand.record(aDraft({ message: 'e' }));
  await settled();
  assert.equal([...stand.server.events.values()].at(-1)?.message, 'e');
  await stand.stop();
});

test('repeats are patches of count, last time and message [I1]', async () => {
  const stand = new Stand().start();
  for (let repeat = 0; repeat < 3; repeat++) {
    stand.record();
    await stand.clock.advance(1_000);
  }
  assert.equal(stand.verbs, 'POST PATCH PATCH');
  assert.deepEqual(stand.server.requests[2]?.body, { count: 3, lastTimestamp: '2026-01-02T03:04:07Z', message: 'm' });
  const [event] = stand.server.events.values();
  assert.equal(stand.server.events.size, 1);
  assert.equal(event?.count, 3);
  assert.equal(event?.firstTimestamp, '2026-01-02T03:04:05Z');
  await stand.stop();
});

test('a repeat of an event that is gone is posted anew, with its full count [I6]', async () => {
  const stand = new Stand().start();
  stand.record();
  stand.record();
  await settled();
  stand.server.events.clear();
  stand.record();
  await settled();
  assert.equal(stand.verbs, 'POST PATCH PATCH POST');
  const [event] = stand.server.events.values();
  assert.equal(event?.count, 3);
  assert.equal(event?.metadata.resourceVersion, undefined);
  await stand.stop();
});

for (const failure of [
  answered('forbidden', 403),
  answered('invalid', 422),
  answered('too-many-requests', 429),
  answered('internal', 500),
])
  test(`an answer of ${failure.code} is final [I7]`, async () => {
    const stand = new Stand().start();
    stand.server.failure = () => failure;
    stand.record();
    await stand.clock.advance(200_000);
    assert.equal(stand.verbs, 'POST');
    assert.equal(stand.dropped('rejected'), 1);
    assert.equal(stand.logger.lines.filter(({ level }) => level === 'warn').length, 1);
    await stand.stop();
  });

test('a namespace that is being deleted takes no events, and nobody is told of it [I10]', async () => {
  const stand = new Stand().start();
  const status = { details: { causes: [{ reason: 'NamespaceTerminating' }] } };
  stand.server.failure = () => new ApiError({ reason: 'forbidden', code: 403, message: 'no', status });
  stand.record();
  await settled();
  assert.equal(stand.dropped('rejected'), 1);
  assert.ok(stand.logger.lines.every(({ level }) => level === 'debug'));
  await stand.stop();
});

test('failures on the way: twelve tries, the first wait by chance, then ten seconds each, then the next event [I8]', async () => {
  const stand = new Stand().start();
  const tries: number[] = [];
  const startMs = stand.clock.monotonicMs();
  stand.server.failure = ({ name }) => {
    if (name.startsWith('n1')) tries.push((stand.clock.monotonicMs() - startMs) / 1_000);
    return name.startsWith('n1') ? connectionLost() : undefined;
  };
  stand.record();
  stand.record(aboutNode('n2'));
  await stand.clock.advance(104_999);
  assert.equal(stand.server.events.size, 0);
  await stand.clock.advance(1);
  assert.deepEqual(tries, [0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105]);
  assert.equal(stand.dropped('unreachable'), 1);
  assert.equal(stand.server.events.size, 1);
  await stand.stop();
});

test('an event that arrived though its answer was lost is not dropped when it is sent again', async () => {
  const stand = new Stand().start();
  let failures = 1;
  stand.server.late = true;
  stand.server.failure = () => (failures-- > 0 ? connectionLost() : undefined);
  stand.record();
  await stand.clock.advance(10_000);
  assert.equal(stand.verbs, 'POST POST');
  assert.equal(stand.server.events.size, 1);
  assert.equal(stand.dropped('rejected'), 0);
  await stand.stop();
});

test('a request that cannot even be made is not tried again', async () => {
  const stand = new Stand().start();
  stand.server.failure = () => new ApiError({ reason: 'bad-request', message: 'no namespace' });
  stand.record();
  await stand.clock.advance(200_000);
  assert.equal(stand.verbs, 'POST');
  assert.equal(stand.dropped('rejected'), 1);
  await stand.stop();
});

test('an API that is away for ten minutes costs what came meanwhile at the head of the line, and no more', async () => {
  const stand = new Stand().start();
  stand.server.failure = connectionLost;
  for (let minute = 0; minute < 10; minute++) {
    stand.record(aboutNode(`away-${minute}`));
    await stand.clock.advance(60_000);
  }
  // Twelve tries take 105 s at this chance: five were given up, the sixth is in hand, and nobody behind them is lost.
  assert.equal(stand.dropped('unreachable'), 5);
  assert.equal(stand.broadcaster.pending, 5);
  stand.server.failure = () => undefined;
  stand.record(aboutNode('back'));
  await stand.clock.advance(10_000);
  assert.equal(stand.broadcaster.pending, 0);
  assert.deepEqual(
    [...stand.server.events.values()].map(({ involvedObject }) => involvedObject.name),
    ['away-5', 'away-6', 'away-7', 'away-8', 'away-9', 'back'],
  );
  await stand.stop();
});

test('the same about two containers of one pod is told twice', async () => {
  const stand = new Stand().start();
  for (const container of ['a', 'b']) {
    const about = { kind: 'Pod', namespace: 'd', name: 'p', fieldPath: `spec.containers{${container}}` };
    stand.record(aDraft({ about, reason: 'Started' }));
  }
  await settled();
  assert.deepEqual(
    [...stand.server.events.values()].map(({ involvedObject }) => involvedObject.fieldPath),
    ['spec.containers{a}', 'spec.containers{b}'],
  );
  assert.equal(stand.verbs, 'POST POST');
  await stand.stop();
});

test('a request that is never answered counts as lost after ten seconds', async () => {
  const stand = new Stand().start();
  stand.server.hanging = 'deaf';
  stand.record();
  await stand.clock.advance(9_999);
  stand.server.hanging = 'no';
  await stand.clock.advance(1 + 5_000);
  assert.equal(stand.verbs, 'POST POST');
  assert.equal(stand.server.events.size, 1);
  await stand.stop();
});

test('spam is dropped and counted [I4]', async () => {
  const stand = new Stand().start();
  for (let index = 0; index < 30; index++) stand.record();
  await settled();
  assert.equal(stand.server.requests.length, 25);
  assert.equal(stand.dropped('spam'), 5);
  const count = (): number | undefined => [...stand.server.events.values()][0]?.count;
  assert.equal(count(), 25);
  await stand.clock.advance(300_000);
  stand.record();
  await settled();
  assert.equal(stand.server.requests.at(-1)?.verb, 'PATCH');
  assert.equal(count(), 31);
  await stand.stop();
});

test('a full queue keeps what it has, in order, and drops what comes [I9]', async () => {
  const stand = new Stand().start();
  stand.server.failure = connectionLost;
  for (let index = 0; index < 1_500; index++) stand.record(aboutNode(`n${index}`));
  await stand.clock.advance(60_000);
  assert.equal(stand.broadcaster.pending, eventQueueMax);
  assert.equal(stand.dropped('queue-full'), 500);
  stand.server.failure = () => undefined;
  await stand.clock.advance(60_000);
  const names = [...stand.server.events.values()].map(({ involvedObject }) => involvedObject.name);
  assert.deepEqual(
    names,
    Array.from({ length: eventQueueMax }, (_, index) => `n${index}`),
  );
  await stand.stop();
});

test('a queue of 25 with a stuck server: 25 are taken, the rest is dropped, nobody waits [H9]', async () => {
  const stand = new Stand({ queueMax: 25 }).start();
  stand.server.hanging = 'until-aborted';
  for (let index = 0; index < 30; index++) stand.record(aboutNode(`n${index}`));
  assert.equal(stand.broadcaster.pending, 25);
  assert.equal(stand.dropped('queue-full'), 5);
  await settled();
  assert.equal(stand.broadcaster.pending, 25);
  await stand.stop();
});

test('an unknown type: no event, one line in the log [H3]', async () => {
  const stand = new Stand().start();
  stand.record(aDraft({ type: 'Info' as 'Normal' }));
  await settled();
  assert.equal(stand.server.requests.length, 0);
  assert.deepEqual(
    stand.logger.lines.map(({ level, message }) => [level, message]),
    [['warn', 'not an event']],
  );
  await stand.stop();
});

test('ten events and the end: whoever watches hears all ten; what comes later is dropped and said to be [H10]', async () => {
  const stand = new Stand().start();
  const heard: string[] = [];
  stand.broadcaster.watch(({ draft, source }) => {
    heard.push(`${source.component} ${draft.about.name}`);
  });
  for (let index = 0; index < 10; index++) stand.record(aboutNode(`n${index}`));
  await stand.stop();
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  stand.record(aboutNode('late'));
  await settled();
  assert.deepEqual(
    heard,
    Array.from({ length: 10 }, (_, index) => `node-controller n${index}`),
  );
  assert.equal(stand.server.events.size, 10);
  assert.equal(stand.dropped('stopped'), 1);
  assert.equal(stand.logger.lines.at(-1)?.message, 'an event came after the end');
});

test('the log line of an event is that of the reference [H11]', async () => {
  const stand = new Stand();
  const lines: string[] = [];
  const end = stand.broadcaster.startLogging((line) => lines.push(line));
  stand.broadcaster.recorder('kubelet', 'n1').record(aDraft({ about: { kind: 'Node', name: 'n1', uid: 'n1' } }));
  await settled();
  end();
  stand.record();
  await settled();
  assert.deepEqual(lines, [
    `Event(v1.ObjectReference{Kind:"Node", Namespace:"", Name:"n1", UID:"n1", APIVersion:"", ResourceVersion:"", FieldPath:""}): type: 'Normal' reason: 'NodeNotReady' m`,
  ]);
});

test('what no event can be made of is dropped; recording never throws', () => {
  const stand = new Stand();
  stand.record(aDraft({ type: 'Info' as 'Normal' }));
  stand.record(aboutNode(''));
  stand.clock.jumpWall(Number.NaN);
  stand.record();
  assert.equal(stand.dropped('invalid'), 3);
  assert.equal(stand.broadcaster.pending, 0);
});

test('what was recorded before the start is written at the start', async () => {
  const stand = new Stand();
  stand.record();
  stand.start();
  await settled();
  assert.equal(stand.server.events.size, 1);
  await stand.stop();
});

test('stops at once in the middle of its tries; a flush gives what is left one try each [I16]', async () => {
  const stand = new Stand().start();
  stand.server.failure = connectionLost;
  stand.record(aboutNode('n1'));
  stand.record(aboutNode('n2'));
  await stand.clock.advance(1_000);
  await stand.stop();
  assert.equal(stand.clock.sleeping, 0);
  stand.server.failure = ({ name }) => (name.startsWith('n1') ? connectionLost() : undefined);
  stand.record(aboutNode('n3'));
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  assert.deepEqual(
    [...stand.server.events.values()].map(({ involvedObject }) => involvedObject.name),
    ['n2', 'n3'],
  );
  assert.equal(stand.dropped('unreachable'), 1);
  stand.record();
  assert.equal(stand.dropped('stopped'), 1);
  assert.equal(stand.clock.sleeping, 0);
});

test('an event whose request was called off at the end is not lost, nor doubled, by the flush', async () => {
  const stand = new Stand().start();
  stand.server.hanging = 'until-aborted';
  stand.record();
  await settled();
  await stand.stop();
  assert.equal(stand.broadcaster.pending, 1);
  stand.server.hanging = 'no';
  assert.equal(await stand.broadcaster.flush(2_000), 0);
  assert.equal(stand.verbs, 'POST POST');
  assert.equal([...stand.server.events.values()][0]?.count, 1);
});

test('a flush ends on time, whatever the server does, and says what is left', async () => {
  const stand = new Stand();
  stand.server.hanging = 'deaf';
  for (let index = 0; index < 5; index++) stand.record(aboutNode(`n${index}`));
  let left: number | undefined;
  const flushed = stand.broadcaster.flush(2_000).then((count) => {
    left = count;
  });
  await stand.clock.advance(1_999);
  assert.equal(left, undefined);
  await stand.clock.advance(1);
  await flushed;
  assert.equal(left, 5);
  assert.equal(stand.dropped('stopped'), 5);
  assert.equal(stand.clock.sleeping, 0);
});

test('a flush of a running broadcaster waits for it, and leaves it open', async () => {
  const stand = new Stand().start();
  let failures = 1;
  stand.server.failure = () => (failures-- > 0 ? connectionLost() : undefined);
  stand.record();
  let left: number | undefined;
  const flushed = stand.broadcaster.flush(20_000).then((count) => {
    left = count;
  });
  await stand.clock.advance(4_999);
  assert.equal(left, undefined);
  await stand.clock.advance(1);
  await flushed;
  assert.equal(left, 0);
  stand.record();
  await settled();
  assert.equal([...stand.server.events.values()][0]?.count, 2);
  stand.server.failure = connectionLost;
  stand.record();
  const short = stand.broadcaster.flush(1_000);
  await stand.clock.advance(1_000);
  assert.equal(await short, 1);
  await stand.stop();
});

test('a flush that the end overtakes finishes the work itself', async () => {
  const stand = new Stand().start();
  stand.server.failure = connectionLost;
  stand.record();
  await settled();
  const flushed = stand.broadcaster.flush(2_000);
  stand.server.failure = () => undefined;
  await stand.stop();
  assert.equal(await flushed, 0);
  assert.equal(stand.server.events.size, 1);
});

test('two at a time is a mistake', async () => {
  const stand = new Stand().start();
  await assert.rejects(stand.broadcaster.run(new AbortController().signal), /running already/);
  await stand.stop();
});

test('law: the queue keeps its bound, and every event is written, waits, or was counted as dropped', async () => {
  type Step = { readonly node: number; readonly message: number; readonly thenMs: number; readonly up: boolean };
  const step: fc.Arbitrary<Step> = fc.record({
    node: fc.nat({ max: 5 }),
    message: fc.nat({ max: 12 }),
    thenMs: fc.constantFrom(0, 0, 0, 100, 20_000),
    up: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 40 }), async (queueMax, steps) => {
      const stand = new Stand({ queueMax }).start();
      for (const { node, message, thenMs, up } of steps) {
        stand.server.failure = () => (up ? undefined : connectionLost());
        stand.record({ ...aboutNode(`n${node}`), message: `m${message}` });
        assert.ok(stand.broadcaster.pending <= queueMax);
        if (thenMs > 0) await stand.clock.advance(thenMs);
      }
      stand.server.failure = () => undefined;
      await stand.stop();
      assert.equal(await stand.broadcaster.flush(2_000), 0);
      const gone = stand.dropped('queue-full') + stand.dropped('spam') + stand.dropped('unreachable');
      const counted = [...stand.server.events.values()].reduce((total, { count }) => total + count, 0);
      // What spam or a dead line kept back is in the count of a later repeat, where there was one.
      assert.ok(counted <= steps.length - stand.dropped('queue-full'));
      assert.ok(counted + gone >= steps.length);
    }),
    { numRuns: 60 },
  );
});
