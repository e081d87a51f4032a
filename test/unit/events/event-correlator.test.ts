import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Event } from '../../../src/api/event.ts';
import { spamBurst, spamRefillMs } from '../../../src/events/correlate-events.ts';
import { deriveEvent } from '../../../src/events/derive-event.ts';
import { type CorrelatedEvent, correlatorEntriesMax, EventCorrelator } from '../../../src/events/event-correlator.ts';

let named = 0;
const nameFor = (objectName: string): string => `${objectName}.${++named}`;

function anEvent(message: string, name = 'n1', type: 'Normal' | 'Warning' = 'Normal'): Event {
  const about = { apiVersion: 'v1', kind: 'Node', name };
  const source = { component: 'c', host: undefined };
  return deriveEvent({ about, type, reason: 'R', message }, source, nameFor(name), 0);
}

function told(correlated: CorrelatedEvent | 'spam'): CorrelatedEvent {
  assert.notEqual(correlated, 'spam');
  return correlated as CorrelatedEvent;
}

test('the same event three times: one object, counts 1, 2, 3', () => {
  const correlator = new EventCorrelator(nameFor);
  const written = [1, 2, 3].map(() => told(correlator.correlate(anEvent('m'), 0)));
  assert.deepEqual(
    written.map(({ event, patch }) => [event.count, patch?.count]),
    [
      [1, undefined],
      [2, 2],
      [3, 3],
    ],
  );
  assert.equal(new Set(written.map(({ event }) => event.metadata.name)).size, 1);
});

test('twelve messages, a second apart: nine of their own, and one that counts three', () => {
  const correlator = new EventCorrelator(nameFor);
  const written = Array.from({ length: 12 }, (_, index) =>
    told(correlator.correlate(anEvent(`m${index + 1}`), index * 1_000)),
  );
  assert.equal(new Set(written.map(({ event }) => event.metadata.name)).size, 10);
  const { event, patch } = written.at(-1) ?? assert.fail();
  assert.equal(event.message, '(combined from similar events): m12');
  assert.equal(event.count, 3);
  assert.equal(patch?.message, event.message);
});

test('nine, silence, nine others: none combined [I3]', () => {
  const correlator = new EventCorrelator(nameFor);
  const nine = (letter: string, atMs: number): CorrelatedEvent[] =>
    Array.from({ length: 9 }, (_, index) => told(correlator.correlate(anEvent(`${letter}${index}`), atMs)));
  const written = [...nine('a', 0), ...nine('b', 601_000)];
  assert.equal(new Set(written.map(({ event }) => event.metadata.name)).size, 18);
  assert.ok(written.every(({ patch }) => patch === undefined));
});

test('thirty at once: twenty-five told; the next, five minutes later, counts all', () => {
  const correlator = new EventCorrelator(nameFor);
  const answers = Array.from({ length: 30 }, () => correlator.correlate(anEvent('m'), 0));
  assert.equal(answers.filter((answer) => answer === 'spam').length, 5);
  assert.equal(told(answers[24] ?? 'spam').patch?.count, 25);
  assert.equal(told(correlator.correlate(anEvent('m'), spamRefillMs)).patch?.count, 31);
});

test('chatter does not use up what a warning needs, nor what another object does [I5]', () => {
  const correlator = new EventCorrelator(nameFor);
  for (let index = 0; index < spamBurst; index++) told(correlator.correlate(anEvent('m'), 0));
  assert.equal(correlator.correlate(anEvent('m'), 0), 'spam');
  told(correlator.correlate(anEvent('m', 'n1', 'Warning'), 0));
  told(correlator.correlate(anEvent('m', 'n2'), 0));
});

test('of too many objects the one not mentioned for longest starts over [I11]', () => {
  const correlator = new EventCorrelator(nameFor);
  for (let index = 0; index < 5_000; index++) correlator.correlate(anEvent('m', `n${index}`), 0);
  const firstKept = 5_000 - correlatorEntriesMax;
  assert.equal(told(correlator.correlate(anEvent('m', `n${firstKept}`), 0)).patch?.count, 2);
  assert.equal(told(correlator.correlate(anEvent('m', 'n4999'), 0)).patch?.count, 2);
  for (const forgotten of ['n0', `n${firstKept - 1}`]) {
    const { event, patch } = told(correlator.correlate(anEvent('m', forgotten), 0));
    assert.deepEqual([event.count, patch], [1, undefined]);
  }
});

test('law: what was told last about an object adds up to all there was up to then', () => {
  // Every event recorded is in exactly one object's count: its own message's, or the combined one's.
  const step = fc.record({ message: fc.nat({ max: 14 }), gapMs: fc.nat({ max: 400_000 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const correlator = new EventCorrelator(nameFor);
      const counts = new Map<string, number>();
      let nowMs = 0;
      let untold = 0;
      for (const { message, gapMs } of steps) {
        nowMs += gapMs % 2 === 0 ? 0 : gapMs;
        const correlated = correlator.correlate(anEvent(`m${message}`), nowMs);
        if (correlated === 'spam') {
          untold++;
          continue;
        }
        const { event } = correlated;
        const before = counts.get(event.metadata.name ?? '') ?? 0;
        assert.ok(event.count > before, 'a count only goes up');
        untold -= event.count - before - 1;
        counts.set(event.metadata.name ?? '', event.count);
        assert.ok(untold >= 0, 'nothing is counted twice');
      }
      const sum = [...counts.values()].reduce((total, count) => total + count, 0);
      assert.equal(sum + untold, steps.length);
    }),
  );
});
