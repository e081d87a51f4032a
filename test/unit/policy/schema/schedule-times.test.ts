import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCron, isTimeZone, readScheduleTimes } from '../../../../src/policy/schema/schedule-times.ts';
import { formatTime } from '../../../../src/machinery/api/timestamps.ts';

/** The starts of windows before and after this time. */
function timesAt(cron: string, timeZone: string, now: string): readonly string[] {
  const { startedAtMs, nextAtMs } = readScheduleTimes({ cron, timeZone }, Date.parse(now));
  return [startedAtMs, nextAtMs].map(formatTime);
}

test('a window has begun in the millisecond of its start', () => {
  const daily = (now: string): readonly string[] => timesAt('0 8 * * *', 'UTC', now);
  assert.deepEqual(daily('2026-01-02T07:59:59.999Z'), ['2026-01-01T08:00:00Z', '2026-01-02T08:00:00Z']);
  assert.deepEqual(daily('2026-01-02T08:00:00.000Z'), ['2026-01-02T08:00:00Z', '2026-01-03T08:00:00Z']);
});

test('days and hours are those of the time zone', () => {
  const monday = '2026-01-05T06:30:00Z';
  assert.deepEqual(timesAt('0 8 * * MON-FRI', 'Europe/Berlin', monday), [
    '2026-01-02T07:00:00Z',
    '2026-01-05T07:00:00Z',
  ]);
  assert.deepEqual(timesAt('0 8 * * MON-FRI', 'Asia/Tokyo', monday), ['2026-01-04T23:00:00Z', '2026-01-05T23:00:00Z']);
});

test('a start in the hour that summer time skips is an hour later, and one in the hour that comes twice is the first', () => {
  const at = (now: string): readonly string[] => timesAt('30 2 * * *', 'Europe/Berlin', now);
  assert.deepEqual(at('2026-03-29T12:00:00Z'), ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z']);
  assert.deepEqual(at('2026-10-25T12:00:00Z'), ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']);
});

test('what is a schedule and what is none', () => {
  assert.deepEqual(['0 8 * * *', '*/5 * * * *', '0 0 29 2 *', '0 8 * JAN SUN'].map(isCron), [true, true, true, true]);
  assert.deepEqual(['', '0 8 * *', '0 0 8 * * *', '60 8 * * *', '0 0 30 2 *'].map(isCron), Array(5).fill(false));
  assert.deepEqual(['UTC', 'Europe/Berlin', 'Mars/Base'].map(isTimeZone), [true, true, false]);
});
