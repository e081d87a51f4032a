import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Event } from '../../../../src/machinery/api/event.ts';
import { spamBurst } from '../../../../src/machinery/events/correlate-events.ts';
import { buildEvent } from '../../../../src/machinery/events/build-event.ts';
import {
  type CorrelatedEvent,
  correlatorEntriesMax,
  EventCorrelator,
} from '../../../../src/machinery/events/event-correlator.ts';

let named = 0;
const nameFor = (objectName: string): string => `${objectName}.${++named}`;

function anEvent(message: string, name = 'n1', type: 'Normal' | 'Warning' = 'Normal'): Event {
  const about = { apiVersion: 'v1', kind: 'Node', name };
  const source = { component: 'c', host: undefined };
  return buildEvent({ about, type, reason: 'R', message }, source, nameFor(name), 0);
}

function admitted(correlated: CorrelatedEvent | 'spam'): CorrelatedEvent {
  assert.notEqual(correlated, 'spam');
  return correlated as CorrelatedEvent;
}

test('nine messages, a pause, nine other messages: none combined [I3]', () => {
  const correlator = new EventCorrelator(nameFor);
  const nine = (letter: string, atMs: number): CorrelatedEvent[] =>
    Array.from({ length: 9 }, (_, index) => admitted(correlator.correlate(anEvent(`${letter}${index}`), atMs)));
  const written = [...nine('a', 0), ...nine('b', 601_000)];
  assert.equal(new Set(written.map(({ event }) => event.metadata.name)).size, 18);
  assert.ok(written.every(({ patch }) => patch === undefined));
});

test('the rate limit is per type and per object [I5]', () => {
  const correlator = new EventCorrelator(nameFor);
  for (let index = 0; index < spamBurst; index++) admitted(correlator.correlate(anEvent('m'), 0));
  assert.equal(correlator.correlate(anEvent('m'), 0), 'spam');
  admitted(correlator.correlate(anEvent('m', 'n1', 'Warning'), 0));
  admitted(correlator.correlate(anEvent('m', 'n2'), 0));
});

test('beyond the maximum number of keys the least recently used one is evicted [I11]', () => {
  const correlator = new EventCorrelator(nameFor);
  for (let index = 0; index < 5_000; index++) correlator.correlate(anEvent('m', `n${index}`), 0);
  const firstKept = 5_000 - correlatorEntriesMax;
  assert.equal(admitted(correlator.correlate(anEvent('m', `n${firstKept}`), 0)).patch?.count, 2);
  assert.equal(admitted(correlator.correlate(anEvent('m', 'n4999'), 0)).patch?.count, 2);
  for (const evicted of ['n0', `n${firstKept - 1}`]) {
    const { event, patch } = admitted(correlator.correlate(anEvent('m', evicted), 0));
    assert.deepEqual([event.count, patch], [1, undefined]);
  }
});

test('property: the last counts written about an object add up to all its events so far', () => {
  // Every recorded event is in exactly one count: the one of its own message, or the combined one.
  const step = fc.record({ message: fc.nat({ max: 14 }), gapMs: fc.nat({ max: 400_000 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const correlator = new EventCorrelator(nameFor);
      const counts = new Map<string, number>();
      let nowMs = 0;
      let unwritten = 0;
      for (const { message, gapMs } of steps) {
        nowMs += gapMs % 2 === 0 ? 0 : gapMs;
        const correlated = correlator.correlate(anEvent(`m${message}`), nowMs);
        if (correlated === 'spam') {
          unwritten++;
          continue;
        }
        const { event } = correlated;
        const before = counts.get(event.metadata.name ?? '') ?? 0;
        assert.ok(event.count > before, 'a count only increases');
        unwritten -= event.count - before - 1;
        counts.set(event.metadata.name ?? '', event.count);
        assert.ok(unwritten >= 0, 'no event is counted twice');
      }
      const sum = [...counts.values()].reduce((total, count) => total + count, 0);
      assert.equal(sum + unwritten, steps.length);
    }),
  );
});
