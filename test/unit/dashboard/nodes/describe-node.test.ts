import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeNext, describeNode, describeQueue } from '../../../../src/dashboard/nodes/describe-node.ts';
import { nodeCell, zoneRow } from '../../../support/dashboard-snapshots.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');

test('what is next has its countdown if its time is known', () => {
  const next = (at: string | null): string =>
    describeNext(nodeCell('n', { next: { what: 'NoExecute taint', at } }), nowMs);
  assert.equal(describeNext(nodeCell('n'), nowMs), 'nothing');
  assert.equal(next(null), 'NoExecute taint');
  assert.equal(next('2026-11-24T12:00:42Z'), 'NoExecute taint in 0:42');
  assert.equal(next('2026-11-24T11:59:00Z'), 'NoExecute taint now');
});

test('a node in words', () => {
  const text = describeNode(nodeCell('n1', { state: 'tainted', held: 'paused', pods: 1 }), nowMs);
  assert.match(text, /^n1, zone a; Tainted since .*\d\d:00:00; 1 pod; held: paused; next: nothing\.$/u);
  assert.doesNotMatch(describeNode(nodeCell('n1'), nowMs), /held/u);
});

test('the queue of a zone, if something waits', () => {
  assert.deepEqual([undefined, zoneRow('a'), zoneRow('a', { waiting: null })].map(describeQueue), [null, null, null]);
  assert.equal(describeQueue(zoneRow('a', { waiting: 12 })), '12 waiting');
  assert.equal(describeQueue(zoneRow('a', { waiting: 1_200, drainSeconds: 65 })), '1,200 waiting, drains in 1m 05s');
});
