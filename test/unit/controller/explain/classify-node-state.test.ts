import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyNodeState } from '../../../../src/controller/explain/classify-node-state.ts';

const ready = { ready: 'True', silent: false, tainted: false, emptying: false, maintained: false, paused: false };

test('the most specific state applies', () => {
  const cases = [
    [{}, 'ready'],
    [{ ready: 'False' }, 'not-ready'],
    [{ ready: 'missing' }, 'not-ready'],
    [{ silent: true }, 'suspect'],
    [{ ready: 'False', silent: true }, 'suspect'],
    [{ ready: 'Unknown', silent: true }, 'unreachable'],
    [{ ready: 'Unknown', silent: true, tainted: true }, 'tainted'],
    [{ ready: 'Unknown', silent: true, tainted: true, emptying: true }, 'emptying'],
    [{ ready: 'False', tainted: true, maintained: true }, 'maintenance'],
    [{ ready: 'False', maintained: true, paused: true }, 'paused'],
    [{ paused: true }, 'paused'],
  ] as const;
  for (const [changes, state] of cases) assert.equal(classifyNodeState({ ...ready, ...changes }), state);
});
