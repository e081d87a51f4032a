import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodePolicy, PolicySelection } from '../../../../src/controller/model/policy.ts';
import { selectPolicy } from '../../../../src/controller/policies/select-policy.ts';
import { aPolicy } from '../../../support/builders.ts';

type Requirement = NodePolicy['selector'][number];

const exists = (...keys: readonly string[]): readonly Requirement[] => keys.map((key) => ({ key, operator: 'Exists' }));

/** The name of the policy that applies, `default`, or the names of a conflict. */
function nameOf(selection: PolicySelection): string {
  if (selection.kind === 'policy') return selection.policy.name;
  return selection.kind === 'default' ? 'default' : selection.policies.map(({ name }) => name).join('=');
}

const labels = { a: '1', b: '2' };
const rows: readonly (readonly [string, readonly (readonly [string, number, ...string[]])[], string])[] = [
  ['no policy', [], 'default'],
  ['no match', [['x', 9, 'c']], 'default'],
  ['one match', [['x', 0, 'a']], 'x'],
  ['a name that objects inherit', [['x', 0, 'constructor']], 'default'],
  [
    'the higher priority',
    [
      ['x', 1, 'a', 'b'],
      ['y', 2, 'a'],
    ],
    'y',
  ],
  [
    'more requirements',
    [
      ['x', 1, 'a'],
      ['y', 1, 'a', 'b'],
    ],
    'y',
  ],
  [
    'an equal claim',
    [
      ['x', 1, 'a'],
      ['y', 1, 'b'],
    ],
    'x=y',
  ],
  [
    'an equal claim above a weaker one',
    [
      ['x', 1, 'a'],
      ['z', 0, 'a', 'b'],
      ['y', 1, 'b'],
    ],
    'x=y',
  ],
  [
    'an equal claim below a stronger one',
    [
      ['x', 0, 'a'],
      ['y', 0, 'b'],
      ['z', -1, 'a'],
      ['w', 3, 'b'],
    ],
    'w',
  ],
  [
    'an equal claim that matches another node',
    [
      ['x', 0, 'a'],
      ['y', 0, 'c'],
    ],
    'x',
  ],
];

for (const [what, policies, expected] of rows) {
  test(`${what}: ${expected}`, () => {
    const all = policies.map(([name, priority, ...keys]) => aPolicy({ name, priority, selector: exists(...keys) }));
    assert.equal(nameOf(selectPolicy(labels, all)), expected);
  });
}

test('the order of the policies does not matter', () => {
  const aName = fc.constantFrom('a', 'b', 'c');
  const aList = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('p', 'q', 'r', 's', 't'),
      priority: fc.integer({ min: 0, max: 2 }),
      keys: fc.uniqueArray(aName, { minLength: 1, maxLength: 2 }),
    }),
    { selector: ({ name }) => name, maxLength: 5 },
  );
  fc.assert(
    fc.property(aList, (drawn) => {
      const policies = drawn.map(({ name, priority, keys }) => aPolicy({ name, priority, selector: exists(...keys) }));
      const sorted = (selection: PolicySelection): string => nameOf(selection).split('=').sort().join('=');
      assert.equal(sorted(selectPolicy(labels, policies)), sorted(selectPolicy(labels, policies.toReversed())));
    }),
  );
});

test('two selections are the same if the same policy applies, or the same ones conflict', () => {
  const [x, y] = [aPolicy({ name: 'x', selector: exists('a') }), aPolicy({ name: 'y', selector: exists('b') })];
  const both = selectPolicy(labels, [x, y]);
  assert.deepEqual(selectPolicy({ ...labels, c: '' }, [x, y]), both);
  assert.notDeepEqual(selectPolicy(labels, [x]), both);
  assert.notDeepEqual(selectPolicy({}, [x]), selectPolicy(labels, [x]));
});
