import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineLimit } from '../../../../src/machinery/queueing/line-limit.ts';

test('so many lines in a period; the first line after it says how many were suppressed', () => {
  const limit = new LineLimit(2, 1_000);
  assert.deepEqual(
    [0, 1, 2, 999, 1_000, 1_001].map((atMs) => limit.admit(atMs)),
    [{}, {}, undefined, undefined, { suppressed: 2 }, {}],
  );
});

test('a clock that was set back does not suppress lines until it has caught up', () => {
  const limit = new LineLimit(1, 1_000);
  assert.deepEqual(
    [500_000, 0].map((atMs) => limit.admit(atMs)),
    [{}, {}],
  );
});
