import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CellTally, type CountedCell } from '../../../../src/dashboard/server/cell-tally.ts';

const aCell = (changes: Partial<CountedCell>): CountedCell => ({
  zone: 'a',
  policy: 'p',
  isHealthy: true,
  isHeld: false,
  ...changes,
});

test('nodes are counted by zone and policy as they change, and nothing is left of those that are gone', () => {
  const tally = new CellTally();
  const [first, second] = [aCell({}), aCell({ zone: 'b', policy: null, isHealthy: false })];
  tally.replace(undefined, first);
  tally.replace(undefined, second);
  const held = aCell({ isHealthy: false, isHeld: true });
  tally.replace(first, held);
  assert.deepEqual(tally.policy('p'), { nodes: 1, unhealthy: 1, held: 1 });
  assert.deepEqual(tally.zones(), [
    ['a', { nodes: 1, unhealthy: 1, held: 1 }],
    ['b', { nodes: 1, unhealthy: 1, held: 0 }],
  ]);
  tally.replace(held, undefined);
  tally.replace(second, undefined);
  assert.deepEqual([tally.policy('p'), tally.zones()], [{ nodes: 0, unhealthy: 0, held: 0 }, []]);
});
