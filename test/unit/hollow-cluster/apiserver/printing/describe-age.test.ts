import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ageSince, humanDuration } from '../../../../../src/hollow-cluster/apiserver/printing/describe-age.ts';

const secondsIn = { s: 1, m: 60, h: 3_600, d: 86_400, y: 365 * 86_400 } as const;

const cases: readonly (readonly [seconds: number, text: string])[] = [
  [-2, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119.9, '119s'],
  [120, '2m'],
  [125, '2m5s'],
  [599, '9m59s'],
  [600, '10m'],
  [3 * 3_600 - 1, '179m'],
  [3 * 3_600, '3h'],
  [3 * 3_600 + 60, '3h1m'],
  [8 * 3_600, '8h'],
  [48 * 3_600 - 1, '47h'],
  [48 * 3_600, '2d'],
  [50 * 3_600, '2d2h'],
  [8 * 86_400, '8d'],
  [2 * 365 * 86_400 - 1, '729d'],
  [2 * 365 * 86_400, '2y'],
  [(2 * 365 + 40) * 86_400, '2y40d'],
  [8 * 365 * 86_400, '8y'],
];

for (const [seconds, text] of cases) {
  test(`${seconds} s is ${text}`, () => assert.equal(humanDuration(seconds * 1_000), text));
}

test('the printed age is at most the duration, and at most an eighth and a second less', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 * secondsIn.y * 1_000 }), (ms) => {
      const parts = [...humanDuration(ms).matchAll(/(\d+)([smhdy])/g)];
      const printed = parts.reduce(
        (sum, part) => sum + Number(part[1]) * secondsIn[part[2] as keyof typeof secondsIn],
        0,
      );
      const seconds = ms / 1_000;
      assert.ok(parts.length > 0 && printed <= seconds);
      assert.ok(seconds - printed < seconds / 8 + 1, `${seconds} s became ${humanDuration(ms)}`);
    }),
  );
});

test('an age without a timestamp is <unknown>', () => {
  const nowMs = Date.parse('2026-01-02T03:04:05Z');
  assert.equal(ageSince('2026-01-02T03:03:05Z', nowMs), '60s');
  assert.equal(ageSince('2026-01-02T03:03:05.000000Z', nowMs), '60s');
  assert.equal(ageSince('', nowMs), '<unknown>');
  assert.equal(ageSince('yesterday', nowMs), '<unknown>');
});
