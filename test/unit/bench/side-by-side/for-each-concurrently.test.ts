import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { forEachConcurrently } from '../../../bench/side-by-side/for-each-concurrently.ts';

test('each item is handled once, and never more than the limit at the same time', async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await forEachConcurrently([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await turn();
    running -= 1;
    done.push(item);
  });
  assert.deepEqual(
    done.toSorted((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7],
  );
  assert.equal(most, 3);
});

test('the first error is the result', async () => {
  const failing = forEachConcurrently([1, 2], 1, () => Promise.reject(new Error('no')));
  await assert.rejects(failing, /no/u);
});
