import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAction } from '../../../../../src/cli/simulation/actions/action-schema.ts';

const all = ['cut', 'stall-api', 'stop-leader', 'undo'] as const;

function problemsOf(given: unknown, offered: Parameters<typeof readAction>[1] = all): string {
  const read = readAction(given, offered);
  return 'problems' in read ? read.problems.join('; ') : '';
}

test('an action with all fields, and null for those that do not apply', () => {
  const cut = { kind: 'cut', nodes: ['a-*', 'b-01'], zone: 'r/a', share: 0.5, seconds: 120 };
  assert.deepEqual(readAction(cut, all), { value: cut });
  const nothing = { nodes: undefined, zone: undefined, share: undefined, seconds: undefined };
  for (const empty of [null, undefined]) {
    const given = { kind: 'cut', nodes: empty, zone: empty, share: empty, seconds: empty };
    assert.deepEqual(readAction(given, all), { value: { kind: 'cut', ...nothing } });
  }
  assert.deepEqual(readAction({ kind: 'stall-api' }, all), { value: { kind: 'stall-api', seconds: 20 } });
  assert.deepEqual(readAction({ kind: 'undo' }, all), { value: { kind: 'undo' } });
});

test('a problem names the field, the accepted values and the given one', () => {
  assert.equal(problemsOf({ kind: 'cut', share: 2 }), 'share: must be a number > 0 and <= 1 (got 2)');
  assert.equal(problemsOf({ kind: 'cut', share: 0 }), 'share: must be a number > 0 and <= 1 (got 0)');
  assert.equal(problemsOf({ kind: 'cut', seconds: 3_601 }), 'seconds: must be an integer >= 1 and <= 3600 (got 3601)');
  assert.equal(
    problemsOf({ kind: 'stall-api', seconds: 121 }),
    'seconds: must be an integer >= 1 and <= 120 (got 121)',
  );
  assert.equal(problemsOf({ kind: 'undo', all: true }), 'all: unknown field');
  assert.match(problemsOf({ kind: 'cut', nodes: [] }), /^nodes: must be a list of 1 to 1000 node names/u);
  assert.match(problemsOf({ kind: 'cut', nodes: ['a*b*c*d*e'] }), /^nodes\[0\]: must be a node name/u);
  assert.match(
    problemsOf({ kind: 'cut', nodes: Array(21).fill('a*') }),
    /^nodes: must be a list of 1 to 1000 node names/u,
  );
});

test('a kind that this server does not have is a problem, and what it has is named', () => {
  assert.equal(problemsOf({ kind: 'stall-api' }, ['cut', 'undo']), 'kind: must be one of cut, undo (got "stall-api")');
  assert.equal(problemsOf({ kind: 'cut' }, []), 'kind: this server has no actions');
  assert.equal(problemsOf('cut'), 'document: must be an object with kind (got "cut")');
});
