import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyNode, type RecordedNode } from '../../../../src/simulator/scenario/classify-node.ts';

const ready: RecordedNode = {
  exists: true,
  ready: 'True',
  isSilent: false,
  isTainted: false,
  leaving: 0,
  isMaintained: false,
};

const cases: readonly (readonly [expected: string, change: Partial<RecordedNode>])[] = [
  ['ready', {}],
  ['suspect', { isSilent: true }],
  ['not-ready', { ready: 'False' }],
  ['unreachable', { ready: 'Unknown', isSilent: true }],
  ['unreachable', { ready: 'missing' }],
  ['tainted', { ready: 'Unknown', isTainted: true }],
  ['emptying', { ready: 'Unknown', isTainted: true, leaving: 1 }],
  // Pods whose eviction is scheduled for another taint.
  ['ready', { leaving: 1 }],
  ['maintenance', { ready: 'Unknown', isTainted: true, leaving: 1, isMaintained: true }],
  ['gone', { exists: false, ready: 'Unknown', isTainted: true }],
];

for (const [expected, change] of cases) {
  test(`${expected}: ${JSON.stringify(change)}`, () => {
    assert.equal(classifyNode({ ...ready, ...change }), expected);
  });
}
