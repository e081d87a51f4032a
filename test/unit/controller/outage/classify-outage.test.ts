import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { classifyOutage, deriveWindowMs } from '../../../../src/controller/outage/classify-outage.ts';

const windowMs = 12_000;

function fallsOf(zones: Readonly<Record<string, readonly number[]>>): ReadonlyMap<string, readonly number[]> {
  return new Map(Object.entries(zones).map(([zone, times]) => [zone, times.toSorted((a, b) => a - b)]));
}

const times = (count: number, atMs: number): readonly number[] => Array.from({ length: count }, () => atMs);

function outageOf(zones: Readonly<Record<string, readonly number[]>>, zone = 'a', atMs = 0): string {
  return classifyOutage(fallsOf(zones), { zone, atMs }, windowMs).outage;
}

test('the window holds a whole round of renewals where the grace period leaves room for it, and a quarter of it where not', () => {
  assert.equal(deriveWindowMs(50_000), 12_000);
  assert.equal(deriveWindowMs(40_000), 12_000);
  assert.equal(deriveWindowMs(26_000), 11_000);
  assert.equal(deriveWindowMs(16_000), 4_000);
  assert.equal(deriveWindowMs(8_000), 2_000);
});

const later = 40_000;

test('one node, or two, are a NodeFailure however small the cluster', () => {
  assert.equal(outageOf({ a: [0, later, later] }), 'NodeFailure');
  assert.equal(outageOf({ a: [0, 0] }), 'NodeFailure');
  assert.equal(outageOf({ a: [0], b: [0] }), 'NodeFailure');
});

test('most of one zone of several is a ZoneFailure, and less than most is not', () => {
  assert.equal(outageOf({ a: times(10, 0), b: times(10, later), c: times(10, later) }), 'ZoneFailure');
  assert.equal(outageOf({ a: [...times(6, 0), ...times(4, later)], b: times(10, later) }), 'ZoneFailure');
  assert.equal(outageOf({ a: [...times(5, 0), ...times(5, later)], b: times(10, later) }), 'NodeFailure');
  assert.equal(
    outageOf({ a: times(90, 0), b: times(10, later) }),
    'ZoneFailure',
    'even where it is most of the cluster',
  );
});

test('most nodes of several zones together are a ControlPlanePathFailure', () => {
  assert.equal(outageOf({ a: times(3, 0), b: times(3, 0) }), 'ControlPlanePathFailure');
  assert.equal(
    outageOf({ a: times(10, 0), b: [...times(8, 5_000), ...times(2, later)], c: times(10, 11_000) }),
    'ControlPlanePathFailure',
  );
  assert.equal(outageOf({ a: times(10, 0), b: times(10, 0), c: times(20, later) }), 'ZoneFailure', 'half are not most');
});

test('in a cluster of one zone the more careful name is given', () => {
  assert.equal(outageOf({ a: times(5, 0) }), 'ControlPlanePathFailure');
  assert.equal(outageOf({ a: [...times(5, 0), ...times(5, later)] }), 'NodeFailure');
});

test('who was silent long before does not count, neither with those who fall nor with those who stand', () => {
  assert.equal(outageOf({ a: [...times(50, -100_000), 0, later] }), 'NodeFailure');
  assert.equal(outageOf({ a: [...times(50, -100_000), 0, 0, 0], b: [...times(50, -100_000), later] }), 'ZoneFailure');
});

test('the arithmetic is told', () => {
  assert.deepEqual(
    classifyOutage(fallsOf({ a: times(3, 0), b: times(4, 0), c: [later] }), { zone: 'b', atMs: 0 }, windowMs),
    {
      outage: 'ControlPlanePathFailure',
      zone: 'b',
      together: 7,
      of: 8,
      zonesStruck: 2,
      shareMin: 0.6,
      zones: 3,
      windowMs,
    },
  );
});

test('one more node that stands never makes an outage greater', () => {
  const rank = ['NodeFailure', 'ZoneFailure', 'ControlPlanePathFailure'];
  const aZone = fc.array(fc.constantFrom(0, 6_000, later), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(aZone, { minLength: 2, maxLength: 4 }), fc.nat(3), (zones, where) => {
      const names = ['a', 'b', 'c', 'd'];
      const before = Object.fromEntries(zones.map((zone, i) => [names[i], [...(i === 0 ? [0] : []), ...zone]]));
      const grown = names[where % zones.length]!;
      const after = { ...before, [grown]: [...(before[grown] ?? []), later] };
      assert.ok(rank.indexOf(outageOf(after)) <= rank.indexOf(outageOf(before)));
    }),
  );
});
