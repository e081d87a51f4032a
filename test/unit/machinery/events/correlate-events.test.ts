import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Event } from '../../../../src/machinery/api/event.ts';
import {
  type SpamRecord,
  combinedPrefix,
  correlateRepeat,
  correlateSimilar,
  correlateSpam,
  combineEvents,
  repeatKey,
  type AggregateRecord,
  similarKey,
  similarMax,
  similarWindowMs,
  spamBurst,
  spamKey,
  spamRefillMs,
} from '../../../../src/machinery/events/correlate-events.ts';
import { buildEvent } from '../../../../src/machinery/events/build-event.ts';

const about = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' };
const nowMs = Date.parse('2026-01-02T03:04:05Z');
const event = buildEvent(
  { about, type: 'Normal', reason: 'NodeNotReady', message: 'm' },
  { component: 'node-controller', host: undefined },
  'n1.1',
  nowMs,
);

function similar(rows: readonly (readonly [string, number])[]): {
  readonly combined: boolean[];
  readonly last: AggregateRecord | undefined;
} {
  let last: AggregateRecord | undefined;
  const combined: boolean[] = [];
  for (const [message, atMs] of rows) {
    const step = correlateSimilar(last, message, atMs);
    last = step.record;
    combined.push(step.combined);
  }
  return { combined, last };
}

test('the tenth distinct message is the first combined one', () => {
  const { combined } = similar(Array.from({ length: 12 }, (_, index) => [`m${index}`, index * 1_000] as const));
  assert.deepEqual(combined, [...Array<boolean>(9).fill(false), true, true, true]);
});

test('repeats of a known message are not combined; an evicted message is', () => {
  const ten = Array.from({ length: 10 }, (_, index) => [`m${index}`, 0] as const);
  assert.equal(similar([...ten, ['m5', 1]]).combined.at(-1), false);
  assert.equal(similar([...ten, ['m0', 1]]).combined.at(-1), true); // the oldest was evicted
});

test('after an interval longer than the window the aggregation starts over', () => {
  const nine = Array.from({ length: 9 }, (_, index) => [`m${index}`, 0] as const);
  assert.equal(similar([...nine, ['x', similarWindowMs]]).combined.at(-1), true);
  const { combined, last } = similar([...nine, ['x', similarWindowMs + 1]]);
  assert.equal(combined.at(-1), false);
  assert.deepEqual(last, { messages: ['x'], lastAtMs: similarWindowMs + 1 });
});

test('property: at most nine messages are kept, and a kept one is never combined', () => {
  const rows = fc.array(fc.tuple(fc.nat({ max: 30 }).map(String), fc.nat({ max: 700_000 })), { maxLength: 60 });
  fc.assert(
    fc.property(rows, (gaps) => {
      let known: AggregateRecord | undefined;
      let atMs = 0;
      for (const [message, gapMs] of gaps) {
        atMs += gapMs;
        const remembered = gapMs <= similarWindowMs && known?.messages.includes(message) === true;
        const step = correlateSimilar(known, message, atMs);
        if (remembered) assert.equal(step.combined, false);
        assert.ok(step.record.messages.length < similarMax);
        assert.ok(step.record.messages.includes(message));
        known = step.record;
      }
    }),
  );
});

test('a combined event has its own name, count and firstTimestamp, and no reporting component', () => {
  const annotated = { ...event, metadata: { ...event.metadata, annotations: { a: 'b' } } };
  assert.deepEqual(combineEvents(annotated, 'n1.2'), {
    ...event,
    metadata: { name: 'n1.2', namespace: 'default' },
    message: `${combinedPrefix}m`,
    reportingComponent: '',
    reportingInstance: '',
  });
});

test('a repeat keeps name and firstTimestamp of the first event, with the new lastTimestamp and message', () => {
  const first = correlateRepeat(undefined, event);
  assert.equal(first.patch, undefined);
  assert.equal(first.event, event);
  const later = buildEvent(
    { about, type: 'Normal', reason: 'NodeNotReady', message: 'm' },
    { component: 'node-controller', host: undefined },
    'n1.2',
    nowMs + 60_000,
  );
  const second = correlateRepeat(first.log, later);
  assert.deepEqual(second.patch, { count: 2, lastTimestamp: '2026-01-02T03:05:05Z', message: 'm' });
  assert.deepEqual(second.event, { ...event, count: 2, lastTimestamp: '2026-01-02T03:05:05Z' });
  assert.equal(correlateRepeat(second.log, later).patch?.count, 3);
});

function spam(atMs: readonly number[]): boolean[] {
  let record: SpamRecord | undefined;
  return atMs.map((nowMs) => {
    const step = correlateSpam(record, nowMs);
    record = step.record;
    return step.allowed;
  });
}

test('a burst of 25 at once, then one event per five minutes', () => {
  const burst = Array<number>(spamBurst + 5).fill(0);
  const then = [spamRefillMs - 1, spamRefillMs, spamRefillMs + 1, 2 * spamRefillMs];
  const allowed = spam([...burst, ...then]);
  assert.equal(allowed.filter(Boolean).length, spamBurst + 2);
  assert.deepEqual(allowed.slice(-4), [false, true, false, true]);
});

test('the token bucket refills up to the burst', () => {
  const burst = Array<number>(spamBurst).fill(0);
  const later = Array<number>(spamBurst + 1).fill(1_000 * spamRefillMs);
  assert.deepEqual(spam([...burst, ...later]).slice(spamBurst), [...Array<boolean>(spamBurst).fill(true), false]);
});

test('property: in any window, at most the burst and the tokens refilled in it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2 * spamRefillMs }), { maxLength: 120 }), (gaps) => {
      let nowMs = 0;
      const times = gaps.map((gapMs) => (nowMs += gapMs % 3 === 0 ? 0 : gapMs));
      const allowedAt = times.filter((_, index) => spam(times.slice(0, index + 1)).at(-1));
      allowedAt.forEach((from, first) => {
        allowedAt.slice(first).forEach((to, index) => {
          assert.ok(index + 1 <= spamBurst + (to - from) / spamRefillMs);
        });
      });
    }),
    { numRuns: 40 },
  );
});

const others: readonly [string, Partial<Event>, { similar: boolean; repeat: boolean; spam: boolean }][] = [
  ['message', { message: 'x' }, { similar: true, repeat: false, spam: true }],
  ['reason', { reason: 'x' }, { similar: false, repeat: false, spam: true }],
  ['type', { type: 'Warning' }, { similar: false, repeat: false, spam: false }],
  ['component', { source: { component: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['host', { source: { component: 'node-controller', host: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['name', { involvedObject: { ...about, name: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['uid', { involvedObject: { ...about, uid: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['namespace', { involvedObject: { ...about, namespace: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['kind', { involvedObject: { ...about, kind: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['apiVersion', { involvedObject: { ...about, apiVersion: 'x' } }, { similar: false, repeat: false, spam: false }],
  ['time and count', { lastTimestamp: null, count: 7 }, { similar: true, repeat: true, spam: true }],
];

for (const [what, change, same] of others)
  test(`keys distinguish: ${what}`, () => {
    const other = { ...event, ...change };
    assert.equal(similarKey(other) === similarKey(event), same.similar);
    assert.equal(repeatKey(other) === repeatKey(event), same.repeat);
    assert.equal(spamKey(other) === spamKey(event), same.spam);
  });
