import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeLog } from '../../../../src/simulator/scenario/change-log.ts';

function logOf(
  max: number,
  changes: readonly (readonly [atMs: number, key: number, value: string])[],
): ChangeLog<string> {
  const log = new ChangeLog<string>(max);
  for (const [atMs, key, value] of changes) log.add({ atMs, key, value });
  return log;
}

const shown = ({ changes }: ChangeLog<string>): readonly string[] =>
  changes.map(({ atMs, key, value }) => `${atMs} ${key} ${value}`);

test('up to the limit every change is kept', () => {
  const log = logOf(3, [
    [0, 0, 'a'],
    [1, 0, 'b'],
    [2, 1, 'a'],
  ]);
  assert.deepEqual([shown(log), log.stepMs], [['0 0 a', '1 0 b', '2 1 a'], 0]);
});

test('beyond the limit the last value of each key in a step is kept, in the order of time', () => {
  const log = logOf(4, [
    [0, 0, 'a'],
    [0, 1, 'a'],
    [1_100, 0, 'b'],
    [1_200, 1, 'b'],
    [1_900, 0, 'c'],
    [2_000, 0, 'd'],
  ]);
  assert.equal(log.stepMs, 2_000);
  assert.deepEqual(shown(log), ['0 0 c', '0 1 b', '2000 0 d']);
});

test('the state at the end is exact, and the size bounded, however many changes there were', () => {
  const log = new ChangeLog<number>(100);
  for (let at = 0; at < 50_000; at += 1) log.add({ atMs: at * 37, key: at % 10, value: at });
  assert.ok(log.changes.length <= 100, `${log.changes.length}`);
  const times = log.changes.map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
  const last = new Map(log.changes.map(({ key, value }) => [key, value]));
  assert.deepEqual(
    [...last].sort(([a], [b]) => a - b),
    Array.from({ length: 10 }, (_, key) => [key, 49_990 + key]),
  );
});
