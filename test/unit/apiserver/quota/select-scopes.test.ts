import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countOf } from '../../../../src/apiserver/quota/merge-amounts.ts';
import { isSelected, noScopes, selectorsOf, usageAt } from '../../../../src/apiserver/quota/select-scopes.ts';

const inClass = (names: readonly string[]) => ({
  names: new Set(['NotTerminating', ...(names.length > 0 ? ['PriorityClass'] : [])]),
  classes: { PriorityClass: names },
});
const priority = (operator: string, values: readonly string[] = []) =>
  selectorsOf({
    metadata: {},
    spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] } },
  });

test('every scope of a quota must select an object', () => {
  const both = selectorsOf({ metadata: {}, spec: { scopes: ['NotTerminating', 'BestEffort'] } });
  assert.equal(isSelected(inClass([]), both), false);
  assert.equal(isSelected({ names: new Set(['NotTerminating', 'BestEffort']), classes: {} }, both), true);
  assert.equal(isSelected(noScopes, []), true);
  assert.equal(isSelected(noScopes, priority('DoesNotExist')), false);
});

test('classes are selected as labels are', () => {
  const rows: readonly (readonly [string, readonly string[], boolean, boolean, boolean])[] = [
    ['Exists', [], false, true, true],
    ['DoesNotExist', [], true, false, false],
    ['In', ['high'], false, true, false],
    ['NotIn', ['high'], true, false, true],
  ];
  for (const [operator, values, none, high, low] of rows) {
    const selected = [[], ['high'], ['low']].map((names) => isSelected(inClass(names), priority(operator, values)));
    assert.deepEqual(selected, [none, high, low], operator);
  }
});

test('after its time, an object uses less', () => {
  const [usage, less] = [new Map([['pods', countOf(1)]]), new Map<string, ReturnType<typeof countOf>>()];
  const measurement = { usage, later: { afterMs: 10, usage: less }, scopes: noScopes };
  assert.equal(usageAt(measurement, 10), usage);
  assert.equal(usageAt(measurement, 11), less);
});
