import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNames } from '../../../bench/side-by-side/cluster-names.ts';
import { renewEveryMs, RenewalSchedule } from '../../../bench/side-by-side/renewal-schedule.ts';

test('each node renews once in each interval, at the same offset, in the order of time', () => {
  const names = nodeNames(50);
  const schedule = new RenewalSchedule(names, 1_000);
  const [first, second] = [0, 1].map(() => names.map(() => schedule.next()));
  assert.deepEqual(new Set(first!.map(({ node }) => node)), new Set(names));
  const times = [...first!, ...second!].map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  assert.ok(times[0]! >= 1_000);
  for (const [index, { node, atMs }] of second!.entries()) {
    assert.equal(node, first![index]!.node);
    assert.equal(atMs, first![index]!.atMs + renewEveryMs);
  }
});

test('the same nodes always have the same times', () => {
  const [one, other] = [0, 1].map(() => new RenewalSchedule(nodeNames(20), 0));
  for (let count = 0; count < 40; count += 1) assert.deepEqual(one!.next(), other!.next());
});
