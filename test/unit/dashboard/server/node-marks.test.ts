import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeMarks } from '../../../../src/dashboard/server/node-marks.ts';

test('a marked node is taken once, and one that is due at its time', () => {
  const marks = new NodeMarks();
  marks.add('a');
  marks.addAll(['a', 'b']);
  marks.markAt('c', 100);
  assert.deepEqual([...marks.take(99)], ['a', 'b']);
  assert.deepEqual([...marks.take(99)], []);
  assert.deepEqual([...marks.take(100)], ['c']);
  assert.deepEqual([...marks.take(101)], []);
});

test('the time of a node can be moved and removed', () => {
  const marks = new NodeMarks();
  marks.markAt('a', 100);
  marks.markAt('a', 200);
  marks.markAt('b', 100);
  marks.markAt('b', undefined);
  marks.markAt('c', Infinity);
  assert.deepEqual([...marks.take(199)], []);
  assert.deepEqual([...marks.take(200)], ['a']);
  assert.equal(marks.size, 0);
});

test('nothing is left after clear', () => {
  const marks = new NodeMarks();
  marks.add('a');
  marks.markAt('b', 100);
  marks.clear();
  assert.deepEqual([marks.size, [...marks.take(1_000)]], [0, []]);
});
