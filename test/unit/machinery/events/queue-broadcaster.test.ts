// What both broadcasters have in common: their queue and their writer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { Broadcaster, BroadcasterOptions } from '../../../../src/machinery/events/broadcaster.ts';
import { eventQueueMax } from '../../../../src/machinery/events/event-queue.ts';
import { type EventsApi, makeBroadcaster } from '../../../../src/machinery/events/events-api.ts';
import { answered, connectionLost } from '../../../support/event-server.ts';
import { aboutNode, aDraft, EventStand } from '../../../support/event-stand.ts';
import { settled } from '../../../support/manual-clock.ts';

/** When the tries of an event are made while the server is unreachable, in seconds. */
const triesAt: Readonly<Record<EventsApi, readonly number[]>> = {
  core: [0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105],
  'events.k8s.io': Array.from({ length: 12 }, (_, index) => index * 11.25),
};

for (const api of ['core', 'events.k8s.io'] as const) {
  const aStand = (): EventStand<Broadcaster> =>
    new EventStand((options: BroadcasterOptions) => makeBroadcaster(api, options));

  test(`${api}: events of one millisecond about one object have different names, and all are stored [H4]`, async () => {
    const stand = aStand().start();
    const reasons = Array.from({ length: 20 }, (_, index) => `R${index}`);
    for (const reason of reasons) stand.record(aDraft({ reason }));
    await settled();
    const seen = stand.events.map(({ reason }) => reason);
    assert.deepEqual(seen, reasons);
  });

  for (const failure of [
    answered('forbidden', 403),
    answered('invalid', 422),
    answered('too-many-requests', 429),
    answered('internal', 500),
  ])
    test(`${api}: a response with ${failure.code} is final [I7]`, async () => {
      const stand = aStand().start();
      stand.server.failure = () => failure;
      stand.record();
      await stand.clock.advance(200_000);
      assert.equal(stand.verbs, 'POST');
      assert.equal(stand.dropped('rejected'), 1);
      assert.equal(stand.logger.at('warn').length, 1);
    });

  test(`${api}: a rejection by a terminating namespace is not logged as a warning [I10]`, async () => {
    const stand = aStand().start();
    const status = { details: { causes: [{ reason: 'NamespaceTerminating' }] } };
    stand.server.failure = () => new ApiError({ reason: 'forbidden', code: 403, message: 'no', status });
    await stand.recorded(aDraft());
    assert.equal(stand.dropped('rejected'), 1);
    assert.ok(stand.logger.lines.every(({ level }) => level === 'debug'));
  });

  test(`${api}: transport failures: twelve tries, with delays and jitter, then the next event [I8]`, async () => {
    const stand = aStand().start();
    const tries: number[] = [];
    const startMs = stand.clock.monotonicMs();
    stand.server.failure = ({ name }) => {
      if (name.startsWith('n1')) tries.push((stand.clock.monotonicMs() - startMs) / 1_000);
      return name.startsWith('n1') ? connectionLost() : undefined;
    };
    stand.record();
    stand.record(aboutNode('n2'));
    await stand.clock.advance((triesAt[api].at(-1) ?? 0) * 1_000 - 1);
    assert.equal(stand.server.events.size, 0);
    await stand.clock.advance(1);
    assert.deepEqual(tries, triesAt[api]);
    assert.equal(stand.dropped('unreachable'), 1);
    assert.equal(stand.server.events.size, 1);
  });

  test(`${api}: a full queue keeps its events in order and drops new ones; after an API outage it is written [I9]`, async () => {
    const stand = aStand().start();
    stand.server.failure = connectionLost;
    for (let index = 0; index < 1_500; index++) stand.record(aboutNode(`n${index}`));
    await stand.clock.advance(60_000);
    assert.equal(stand.broadcaster.pending, eventQueueMax);
    assert.equal(stand.dropped('queue-full'), 500);
    await stand.clock.advance(540_000);
    const dropped = stand.dropped('unreachable');
    assert.ok(dropped > 0 && dropped < 10, `${dropped}`);
    stand.server.failure = () => undefined;
    await stand.clock.advance(60_000);
    const written = stand.server.requests.slice(-(eventQueueMax - dropped)).map(({ name }) => name.split('.')[0]);
    const expected = Array.from({ length: eventQueueMax - dropped }, (_, index) => `n${index + dropped}`);
    assert.deepEqual(written, expected);
    assert.equal(stand.server.events.size, expected.length);
  });

  test(`${api}: an event that was stored although its response was lost counts as written on the retry`, async () => {
    const stand = aStand().start();
    let failures = 1;
    stand.server.late = true;
    stand.server.failure = () => (failures-- > 0 ? connectionLost() : undefined);
    stand.record();
    await stand.clock.advance(12_500);
    assert.deepEqual([stand.verbs, stand.server.events.size], ['POST POST', 1]);
    assert.equal(stand.dropped('rejected'), 0);
  });

  test(`${api}: a flush ends within its timeout and returns the number of events left`, async () => {
    const stand = aStand();
    stand.server.hanging = 'ignores-signal';
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

  test(`${api}: invalid drafts are dropped; recording never throws`, () => {
    const stand = aStand();
    stand.record(aDraft({ type: 'Info' as 'Normal' }));
    stand.record(aboutNode(''));
    stand.clock.jumpWall(Number.NaN);
    stand.record();
    assert.equal(stand.dropped('invalid'), 3);
    assert.equal(stand.broadcaster.pending, 0);
  });

  test(`${api}: running twice at a time rejects`, async () => {
    const stand = aStand().start();
    await assert.rejects(stand.broadcaster.run(new AbortController().signal), /already running/);
    await stand.stop();
    assert.equal(stand.clock.sleeping, 0);
  });
}
