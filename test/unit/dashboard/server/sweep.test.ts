import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sweep } from '../../../../src/dashboard/server/sweep.ts';
import { names } from '../../../support/zoned-world.ts';

for (const size of [0, 1, 5, 10, 23]) {
  test(`${size} names are visited once each in ten steps or a few less`, () => {
    const all = names(size);
    const sweep = new Sweep({ names: () => all, size: () => size, steps: 10 });
    const visited: string[] = [];
    for (let step = 0; step < 11; step += 1) visited.push(...sweep.next());
    assert.deepEqual(visited, all);
    assert.equal(sweep.isOver, true);
    sweep.restart();
    assert.deepEqual([...sweep.rest()], all);
  });
}

test('names that are removed and added meanwhile neither end a sweep early nor prolong it', () => {
  const all = new Set(names(100));
  const sweep = new Sweep({ names: () => all, size: () => all.size, steps: 10 });
  const visited = new Set<string>();
  for (let step = 0; step < 20 && !sweep.isOver; step += 1) {
    for (const name of sweep.next()) visited.add(name);
    all.delete(`n${step}`);
    all.add(`new-${step}`);
  }
  assert.equal(sweep.isOver, true);
  for (const name of names(100)) assert.ok(visited.has(name) || !all.has(name), name);
});
