import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventV1 } from '../../../../src/machinery/api/event.ts';
import {
  correlateSeries,
  decideSeriesEnd,
  buildSeriesWrite,
  type Series,
  seriesFinishMs,
  seriesKey,
} from '../../../../src/machinery/events/correlate-series.ts';
import { toEventsV1 } from '../../../../src/machinery/events/to-events-v1.ts';
import { aDraft } from '../../../support/event-stand.ts';

const source = { component: 'node-controller', host: 'h' };
const startMs = Date.parse('2026-01-02T03:04:05Z');

function anEvent(message: string, afterMs: number): EventV1 {
  return toEventsV1(aDraft({ message }), source, `n1.${afterMs}`, startMs + afterMs);
}

test('the first event is written, the second starts the series, later ones are only counted', () => {
  let series: Series | undefined;
  const written = [0, 1_000, 2_000].map((afterMs) => {
    const step = correlateSeries(series, anEvent(`m${afterMs}`, afterMs), 50 + afterMs);
    series = step.series;
    return step.write;
  });
  assert.deepEqual(written, ['event', 'series', 'nothing']);
  assert.deepEqual(series, {
    event: anEvent('m0', 0),
    count: 3,
    lastObservedTime: '2026-01-02T03:04:07.000000Z',
    lastAtMs: 2_050,
  });
});

test('the patch of a series contains only the series', () => {
  const event = anEvent('m', 0);
  const once = { event, count: 1, lastObservedTime: event.eventTime, lastAtMs: 0 };
  assert.deepEqual(buildSeriesWrite(once), { event, patch: undefined });
  const series = { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' };
  assert.deepEqual(buildSeriesWrite({ ...once, ...series }), { event: { ...event, series }, patch: { series } });
});

test('a series is finished after more than six minutes without an occurrence', () => {
  const event = anEvent('m', 0);
  const series = { event, count: 2, lastObservedTime: event.eventTime, lastAtMs: 1_000 };
  assert.equal(decideSeriesEnd(series, 1_000 + seriesFinishMs), 'keep');
  assert.equal(decideSeriesEnd(series, 1_001 + seriesFinishMs), 'finish');
  assert.equal(decideSeriesEnd({ ...series, count: 1 }, 1_000 + seriesFinishMs), 'keep');
  assert.equal(decideSeriesEnd({ ...series, count: 1 }, 1_001 + seriesFinishMs), 'forget');
});

const base = anEvent('m', 0);
const others: readonly (readonly [string, Partial<EventV1>, boolean])[] = [
  ['note', { note: 'x' }, true],
  ['name and time', { metadata: { name: 'x' }, eventTime: 'x' }, true],
  ['annotations', { metadata: { annotations: { a: 'b' } } }, true],
  ['type', { type: 'Warning' }, false],
  ['action', { action: 'x' }, false],
  ['reason', { reason: 'x' }, false],
  ['regarding', { regarding: { ...base.regarding, uid: 'x' } }, false],
  ['part of it', { regarding: { ...base.regarding, fieldPath: 'x' } }, false],
  ['related', { related: { kind: 'Pod', name: 'p' } }, false],
];

for (const [what, change, same] of others)
  test(`keys distinguish: ${what}`, () => {
    assert.equal(seriesKey({ ...base, ...change }, source) === seriesKey(base, source), same);
  });

test('keys distinguish: the source', () => {
  assert.notEqual(seriesKey(base, { ...source, component: 'x' }), seriesKey(base, source));
  // Not the instance, which is truncated.
  assert.notEqual(seriesKey(base, { ...source, host: 'x' }), seriesKey(base, source));
});
