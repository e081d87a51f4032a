import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { EventNames } from '../../../../src/machinery/events/event-name.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SeededRandom } from '../../../support/fakes.ts';

const startMs = Date.parse('2026-01-02T03:04:05Z');
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('a name is the object and the time in nanoseconds, in hexadecimal', () => {
  const names = new EventNames(new ManualClock(startMs), { next: () => 0 });
  const nanos = BigInt(startMs) * 1_000_000n;
  assert.equal(names.next('web'), `web.${nanos.toString(16)}`);
  assert.equal(names.next('web'), `web.${(nanos + 1n).toString(16)}`);
});

test('the digits below a millisecond are random, and stay below a millisecond', () => {
  const names = new EventNames(new ManualClock(startMs), { next: () => 0.999_999_9 });
  assert.equal(names.next('web'), `web.${(BigInt(startMs) * 1_000_000n + 999_999n).toString(16)}`);
});

for (const [what, name] of [
  ['capitals and underscores', 'Bad_Name'],
  ['nothing', ''],
  ['too long for a name', 'x'.repeat(240)],
] as const)
  test(`${what}: the name is a UUID`, () => {
    const names = new EventNames(new ManualClock(startMs), new SeededRandom(7));
    assert.match(names.next(name), uuid);
    assert.notEqual(names.next(name), names.next(name));
  });

test('a name with dots, and one that just fits, are kept', () => {
  const names = new EventNames(new ManualClock(startMs), { next: () => 0 });
  assert.ok(names.next('ip-10-0-0-1.ec2.internal').startsWith('ip-10-0-0-1.ec2.internal.'));
  assert.equal(names.next('x'.repeat(236)).length, 253);
});

test('property: no name is used twice, whatever the wall clock does', () => {
  const jumps = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.nat(), jumps, (seed, byMs) => {
      const clock = new ManualClock(startMs);
      const names = new EventNames(clock, new SeededRandom(seed));
      const given = byMs.flatMap((jumpMs) => {
        clock.jumpWall(Math.abs(jumpMs) % 3 === 0 ? 0 : jumpMs);
        return [names.next('n1'), names.next('n1')];
      });
      assert.equal(new Set(given).size, given.length);
      assert.deepEqual(given, [...given].sort());
    }),
  );
});
