import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectKinds, selectTimeline } from '../../../../src/dashboard/cluster/select-timeline.ts';
import { timelineLine } from '../../../support/dashboard-snapshots.ts';

const lines = [
  timelineLine(1, { kind: 'taint', node: 'worker-1' }),
  timelineLine(2, { kind: 'hold', warning: true, text: 'Paused by an administrator' }),
  timelineLine(3, { kind: 'taint', pod: 'default/web', warning: true }),
];
const all = { kind: null, text: '', warnings: false };
const ids = (change: object): readonly number[] => selectTimeline(lines, { ...all, ...change }).map(({ id }) => id);

test('the newest decision is first', () => assert.deepEqual(ids({}), [3, 2, 1]));

test('kind, warnings and text select decisions; text is searched in names too', () => {
  assert.deepEqual(ids({ kind: 'taint' }), [3, 1]);
  assert.deepEqual(ids({ warnings: true }), [3, 2]);
  assert.deepEqual(ids({ text: 'WORKER' }), [1]);
  assert.deepEqual(ids({ text: 'default/web' }), [3]);
  assert.deepEqual(ids({ text: 'administrator', kind: 'taint' }), []);
});

test('the kinds that occur', () => assert.deepEqual(selectKinds(lines), ['hold', 'taint']));
