import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatGoDuration, goDurationText, parseGoDuration } from '../../../../src/machinery/api/go-duration.ts';

const hour = 3_600_000;

test('parses what Go parses', () => {
  const table: readonly [string, number][] = [
    ['0', 0],
    ['-0', 0],
    ['5s', 5_000],
    ['1m30s', 90_000],
    ['500ms', 500],
    ['1h2m3.5s', hour + 2 * 60_000 + 3_500],
    ['5m0.5s', 300_500],
    ['1.5h', 1.5 * hour],
    ['.5s', 500],
    ['5.s', 5_000],
    ['+5s', 5_000],
    ['-1.5s', -1_500],
    ['1s1s', 2_000],
    ...['us', 'µs', 'μs'].map((unit) => [`100${unit}`, 0.1] as [string, number]),
    ['1ns', 0.000001],
    ['0.3333333333333333333h', 20 * 60_000],
    ['2562047h47m16.854775807s', 9_223_372_036_854.775],
  ];
  for (const [text, ms] of table) {
    const parsed = parseGoDuration(text);
    assert.ok(parsed !== undefined && Math.abs(parsed - ms) < 0.001, `${text}: ${parsed}, wanted ${ms}`);
  }
});

test('rejects what Go rejects', () => {
  const table = [
    '',
    '5',
    '1.5',
    's',
    '.s',
    '-',
    '+',
    '1 s',
    ' 1s',
    '1s ',
    '1d',
    '1S',
    '1h-1m',
    '--1s',
    '1..5s',
    'banana',
  ];
  for (const text of [...table, '1e3s', 'Infinity', '2562047h47m16.854775808s', '9223372036854775808ns']) {
    assert.equal(parseGoDuration(text), undefined, JSON.stringify(text));
  }
});

test('formats as Go does', () => {
  const table: readonly [number, string][] = [
    [0, '0s'],
    [0.000001, '1ns'],
    [0.0011, '1.1µs'],
    [0.25, '250µs'],
    [1.5, '1.5ms'],
    [2.2, '2.2ms'],
    [200, '200ms'],
    [1_200, '1.2s'],
    [10_000, '10s'],
    [100_000, '1m40s'],
    [180_000, '3m0s'],
    [185_200, '3m5.2s'],
    [-1_000, '-1s'],
    [500, '500ms'],
    [3_300, '3.3s'],
    [50_000, '50s'],
    [60_000, '1m0s'],
    [4 * 60_000 + 5_001, '4m5.001s'],
    [hour, '1h0m0s'],
    [hour + 2 * 60_000 + 3_500, '1h2m3.5s'],
    [-90_000, '-1m30s'],
  ];
  for (const [ms, text] of table) assert.equal(formatGoDuration(ms), text);
});

test('property: a formatted duration parses to the same duration', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
      assert.equal(parseGoDuration(formatGoDuration(ms)), ms === 0 ? 0 : ms);
    }),
  );
});

test('property: single nanoseconds survive the round trip', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), (nanoseconds) => {
      const text = formatGoDuration(nanoseconds / 1e6);
      assert.equal(Math.round((parseGoDuration(text) ?? Number.NaN) * 1e6), nanoseconds, text);
    }),
  );
});

test('property: an arbitrary text is parsed or rejected, and never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789.+-hmsunµ ')), maxLength: 12 }), (text) => {
      const ms = parseGoDuration(text);
      assert.ok(ms === undefined || Number.isFinite(ms), text);
    }),
  );
});

test('a long text is read in linear time, whether it is a duration or not', () => {
  const digits = '1'.repeat(100_000);
  const texts = [digits, `${digits}x`, `${digits}.${digits}`, `.${digits}`, `${'1s'.repeat(50_000)}x`, `${digits}s`];
  for (const text of texts) {
    const startedMs = performance.now();
    assert.equal(parseGoDuration(text), undefined);
    // In quadratic time it takes ten seconds.
    assert.ok(performance.now() - startedMs < 1_000, `${text.slice(0, 3)}… of ${text.length} characters`);
  }
});

test('the pattern accepts numbers as Go does: with digits before the point, after it, or both', () => {
  for (const text of ['1.s', '.5s', '1.5h2m', '1.h.5m', '-1.s', '00.0s', '1h1h']) assert.match(text, goDurationText);
  for (const text of ['.s', '1..5s', '1.5.s', '1.5', '1.', '.5', '1s.', '1.5h2', '+-1s', 's1']) {
    assert.doesNotMatch(text, goDurationText);
  }
});
