import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatClock,
  formatCountdown,
  formatDuration,
  formatOffset,
  formatUtc,
} from '../../../../src/dashboard/page/format-time.ts';

test('durations have their two largest units', () => {
  const of = (seconds: number): string => formatDuration(seconds);
  assert.deepEqual([-3, 0.4, 59.4, 60, 185, 3_600, 4_320, 183_600].map(of), [
    '0s',
    '0s',
    '59s',
    '1m 00s',
    '3m 05s',
    '1h 00m',
    '1h 12m',
    '2d 3h',
  ]);
});

test('a countdown ends with now, and not before', () => {
  const of = (seconds: number): string => formatCountdown(seconds);
  assert.deepEqual([3_723, 725, 42, 0.01, 0, -5].map(of), ['1:02:03', '12:05', '0:42', '0:01', 'now', 'now']);
});

test('a time of day is in the wanted zone, with the date on another day', () => {
  const nowMs = Date.parse('2026-11-24T12:30:00Z');
  assert.equal(formatClock('2026-11-24T12:00:01.500000Z', nowMs, 'UTC'), '12:00:01');
  assert.equal(formatClock('2026-11-24T12:00:01Z', nowMs, 'Asia/Tokyo'), '21:00:01');
  assert.equal(formatClock('2026-11-23T12:00:01Z', nowMs, 'UTC'), '23 Nov 12:00:01');
  assert.match(formatClock('2026-11-24T12:00:01Z', nowMs), /\d\d:\d\d:01$/u);
});

test('an unreadable time stays as it is', () => {
  assert.deepEqual([formatClock('soon', 0, 'UTC'), formatUtc('soon')], ['soon', 'soon']);
});

test('UTC has the date', () => {
  assert.equal(formatUtc('2026-11-24T12:00:01.999999Z'), '2026-11-24 12:00:01 UTC');
});

test('offsets have the sign of ISO 8601', () => {
  assert.deepEqual([0, -120, 210].map(formatOffset), ['UTC', 'UTC+2', 'UTC-3:30']);
});

test('virtual times, which count from the epoch, are times since the start', () => {
  assert.equal(formatClock('1970-01-01T00:01:52.300Z', 0), '1m 52s');
  assert.equal(formatUtc('1970-01-01T01:00:00Z'), '1h 00m since the start');
});
