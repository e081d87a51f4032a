import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatRecord, parseRecord } from '../../../../src/controller/flapping/parse-flapping-record.ts';

test('what is written is read again, in whole seconds', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 0, max: 4e12 }), (level, untilMs) => {
      const record = parseRecord(formatRecord(level, untilMs));
      assert.equal(record?.level, level);
      assert.equal(record.untilMs, Math.floor(untilMs / 1_000) * 1_000);
    }),
  );
  assert.equal(formatRecord(2, Date.parse('2026-11-24T12:10:00.700Z')), '{"level":2,"until":"2026-11-24T12:10:00Z"}');
});

test('anything else is malformed', () => {
  const until = '2026-11-24T12:10:00Z';
  const texts = [
    '',
    'true',
    'null',
    until,
    '{"level":2}',
    `{"until":"${until}"}`,
    `{"level":0,"until":"${until}"}`,
    `{"level":65,"until":"${until}"}`,
    `{"level":1.5,"until":"${until}"}`,
    `{"level":"1","until":"${until}"}`,
    '{"level":1,"until":"tomorrow"}',
    '{"level":1,"until":1764000000}',
    `{"level":1,"until":"${until}","x":"${'y'.repeat(200)}"}`,
  ];
  for (const text of texts) assert.equal(parseRecord(text), undefined, text);
});

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseRecord(text)));
});
