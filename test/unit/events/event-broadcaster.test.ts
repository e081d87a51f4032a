import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ApiError } from '../../../src/api/api-error.ts';
import type { EventDraft } from '../../../src/api/event.ts';
import {
  EventBroadcaster,
  type EventBroadcasterOptions,
  eventQueueMax,
} from '../../../src/events/event-broadcaster.ts';
import { answered, connectionLost, EventServer } from '../../support/event-server.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter } from '../../support/quiet.ts';

function aDraft(over: Partial<EventDraft> = {}): EventDraft {
  const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
  return { about, type: 'Normal', reason: 'NodeNotReady', message: 'm', ...over };
}

function aboutNode(name: string): EventDraft {
  return aDraft({ about: { apiVersion: 'v1', kind: 'Node', name } });
}

class Stand {
  readonly clock = new ManualClock();
  readonly server = new EventServer();
  readonly meter = new KeepingMeter();
  readonly logger = new KeepingLogger();
  readonly broadcaster: EventBroadcaster;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(over: Partial<EventBroadcasterOptions> = {}) {
    const { clock, meter, logger } = this;
    this.broadcaster = new EventBroadcaster({
      api: this.server,
      clock,
      random: { next: () => 0.5 },
      logger,
      meter,
      ...over,
    });
  }

  start(): this {
    this.#ended = this.broadcaster.run(this.#stop.signal);
    return this;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  record(draft: EventDraft = aDraft()): void {
    this.broadcaster.recorder('node-controller').record(draft);
  }

  dropped(reason: string): number {
    return this.meter.series.get(`node_lifecycle_events_dropped_total{reason="${reason}"}`) ?? 0;
  }

  get verbs(): string {
    return this.server.requests.map(({ verb }) => verb).join(' ');
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

test('repeats are patches of count, last time and message', async () => {
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

test('a repeat of an event that is gone is posted anew, with its full count', async () => {
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

test('failures on the way: twelve tries, the first wait by chance, then ten seconds each, then the next event', async () => {
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

test('spam is dropped and counted', async () => {
  const stand = new Stand().start();
  for (let index = 0; index < 30; index++) stand.record();
  await settled();
  assert.equal(stand.server.requests.length, 25);
  assert.equal(stand.dropped('spam'), 5);
  await stand.clock.advance(300_000);
  stand.record();
  await settled();
  assert.equal([...stand.server.events.values()][0]?.count, 31);
  await stand.stop();
});

test('a full queue keeps what it has, in order, and drops what comes', async () => {
  const stand = new Stand().start();
  stand.server.failure = connectionLost;
  for (let index = 0; index < 1_500; index++) stand.record(aboutNode(`n${index}`));
  await settled();
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

test('stops at once in the middle of its tries; a flush gives what is left one try each', async () => {
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
