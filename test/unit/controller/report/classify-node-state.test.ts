import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyNodeState, type NodeStateEvidence } from '../../../../src/controller/report/classify-node-state.ts';
import { type NodeState, nodeStates } from '../../../../src/dashboard/protocol.ts';

const ready: NodeStateEvidence = {
  ready: 'True',
  isSilent: false,
  isTainted: false,
  isEvicted: false,
  hasLeavingPods: false,
  isMaintained: false,
  isPaused: false,
};

const rows: readonly (readonly [Partial<NodeStateEvidence>, NodeState])[] = [
  [{}, 'ready'],
  [{ ready: 'False' }, 'not-ready'],
  [{ ready: 'missing' }, 'not-ready'],
  [{ isSilent: true }, 'suspect'],
  [{ ready: 'False', isSilent: true }, 'suspect'],
  [{ ready: 'Unknown', isSilent: true }, 'unreachable'],
  [{ ready: 'Unknown' }, 'unreachable'],
  [{ ready: 'Unknown', isTainted: true }, 'tainted'],
  [{ isTainted: true }, 'tainted'],
  [{ hasLeavingPods: true }, 'ready'],
  [{ ready: 'Unknown', isTainted: true, hasLeavingPods: true }, 'emptying'],
  [{ ready: 'Unknown', isEvicted: true, hasLeavingPods: true }, 'emptying'],
  [{ ready: 'Unknown', isEvicted: true }, 'unreachable'],
  [{ ready: 'Unknown', isTainted: true, hasLeavingPods: true, isMaintained: true }, 'maintenance'],
  [{ isMaintained: true }, 'maintenance'],
  [{ isMaintained: true, isPaused: true }, 'paused'],
];

for (const [evidence, state] of rows) {
  test(`${JSON.stringify(evidence)}: ${state}`, () =>
    assert.equal(classifyNodeState({ ...ready, ...evidence }), state));
}

test('every state that is shown has its place in the list of states', () => {
  const listed: ReadonlySet<NodeState> = new Set(nodeStates);
  for (const [, state] of rows) assert.ok(listed.has(state), state);
  assert.equal(new Set(rows.map(([, state]) => state)).size, nodeStates.length);
});
