import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatMicroTime, formatTime, parseTimestamp } from '../../../../src/machinery/api/timestamps.ts';

const two = (max: number): fc.Arbitrary<string> => fc.nat(max).map((value) => String(value).padStart(2, '0'));

test('a time beyond the years of RFC 3339 is the last or the first second of them', () => {
  assert.equal(formatTime(9_999_999_999_999_000), '9999-12-31T23:59:59Z');
  assert.match(formatMicroTime(9_999_999_999_999_000), /^9999-12-31T23:59:59\.\d{6}Z$/);
  assert.equal(formatTime(Number.MAX_SAFE_INTEGER * 1_000), '9999-12-31T23:59:59Z');
  assert.equal(formatTime(Date.parse('9999-12-31T23:59:59Z') + 1_000), '9999-12-31T23:59:59Z');
  assert.equal(formatTime(Number.MIN_SAFE_INTEGER), '0000-01-01T00:00:00Z');
});

test('the fast path for times equals the full parser', () => {
  const time = fc.record({
    year: fc.nat(9_999).map((value) => String(value).padStart(4, '0')),
    month: two(13),
    day: two(32),
    hour: two(25),
    minute: two(61),
    second: two(61),
    fraction: fc.oneof(
      fc.constant(''),
      fc.nat(999_999).map((value) => `.${String(value).padStart(6, '0')}`),
      fc.constantFrom('.1', '.', '.12345x', ',123456', '.1234567'),
    ),
    end: fc.constantFrom('Z', 'Z', 'Z', '+01:00', ''),
  });
  fc.assert(
    fc.property(time, ({ year, month, day, hour, minute, second, fraction, end }) => {
      const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${end}`;
      // Lower case is parsed only by the full parser.
      assert.equal(parseTimestamp(text), parseTimestamp(text.replace('T', 't')), text);
    }),
    { numRuns: 2_000 },
  );
});
