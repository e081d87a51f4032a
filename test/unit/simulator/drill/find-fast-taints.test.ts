import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRecord } from '../../../simulator/drill/drill-record.ts';
import { findFastTaints, tokensBetween } from '../../../simulator/drill/find-fast-taints.ts';

const toleranceMs = 1_700;

/** A node that the controller taints at this time. */
function taintedAt(atMs: number, zone = 'a', byController = true): NodeRecord {
  const state = { byController, ready: 'Unknown', zone, taints: [], os: undefined, oldOs: undefined, bootID: '' };
  const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
  const states = [
    { ...state, atMs: 0 },
    { ...state, atMs, taints: [taint] },
  ];
  return { states, heartbeats: [], events: 0, writes: { sent: 0, committed: 0 } };
}

const rates = [
  { fromMs: 0, perSecond: 0.5 },
  { fromMs: 100_000, perSecond: 0.1 },
  { fromMs: 104_000, perSecond: 0.2 },
];

test('tokens are the rate, added up over its changes', () => {
  assert.equal(tokensBetween(rates, 90_000, 100_000), 5);
  assert.equal(tokensBetween(rates, 98_000, 109_000), 1 + 0.4 + 1);
  assert.equal(tokensBetween(rates, 200_000, 200_000), 0);
  assert.equal(tokensBetween([], 0, 1_000), 0);
});

test('two taints of a zone are too fast if there was no whole token in between, whatever the rate is later', () => {
  const pair = (firstMs: number, secondMs: number): number =>
    findFastTaints([taintedAt(firstMs), taintedAt(secondMs)], () => rates, toleranceMs).length;
  assert.equal(pair(50_000, 51_900), 0);
  assert.equal(pair(50_000, 50_200), 1);
  assert.equal(pair(101_000, 103_000), 1);
  assert.equal(pair(101_000, 105_000), 1);
  assert.equal(pair(101_000, 108_000), 0);
});

test('taints of different zones, and those of others, do not count', () => {
  assert.deepEqual(
    findFastTaints([taintedAt(101_000), taintedAt(101_100, 'b')], () => rates, toleranceMs),
    [],
  );
  assert.deepEqual(
    findFastTaints([taintedAt(101_000), taintedAt(101_100, 'a', false)], () => rates, toleranceMs),
    [],
  );
});

test('taints of two racks are too fast for the hall around them', () => {
  const ratesOf = (zone: string) => [{ fromMs: 0, perSecond: zone.startsWith('metal:') ? 0.1 : 5 }];
  const pair = (...[first, second]: readonly [string, string]): readonly string[] =>
    findFastTaints([taintedAt(101_000, first), taintedAt(104_000, second)], ratesOf, toleranceMs).map(
      ({ zone }) => zone,
    );
  assert.deepEqual(pair('metal:h1:r1', 'metal:h1:r2'), ['metal:h1:*']);
  assert.deepEqual(pair('metal:h1:r1', 'metal:h2:r1'), []);
});

test('a zone of a policy has the rate of its policy', () => {
  const ratesOf = (zone: string) => [{ fromMs: 0, perSecond: zone === 'metal:r1' ? 0.1 : 5 }];
  const pair = (zone: string): number =>
    findFastTaints([taintedAt(101_000, zone), taintedAt(104_000, zone)], ratesOf, toleranceMs).length;
  assert.deepEqual([pair('metal:r1'), pair('r/a')], [1, 0]);
});
