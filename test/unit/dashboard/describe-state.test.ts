import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeState, isNodeState } from '../../../src/dashboard/describe-state.ts';
import { nodeStates } from '../../../src/dashboard/protocol.ts';

test('each state has its own label and letter', () => {
  assert.equal(new Set(nodeStates.map((state) => describeState(state).label)).size, 8);
  assert.equal(new Set(nodeStates.map((state) => describeState(state).letter)).size, 8);
});

test('only the names of states are states', () => {
  assert.deepEqual(['ready', 'Ready', 'toString', ''].map(isNodeState), [true, false, false, false]);
});
