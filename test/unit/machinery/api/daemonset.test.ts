import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DaemonSet, selectsLabels, transformDaemonSet } from '../../../../src/machinery/api/daemonset.ts';
import type { LabelSelector } from '../../../../src/machinery/api/label-selector.ts';

function aView(selector: unknown): ReturnType<typeof transformDaemonSet> {
  const metadata = { namespace: 'kube-system', name: 'agent', uid: 'u', resourceVersion: '7' };
  return transformDaemonSet({ metadata, spec: { selector: selector as LabelSelector } });
}

const rows: readonly [string, unknown, Record<string, string>, boolean][] = [
  ['a label that is equal', { matchLabels: { app: 'agent' } }, { app: 'agent', other: 'x' }, true],
  ['a label that differs', { matchLabels: { app: 'agent' } }, { app: 'web' }, false],
  ['a label that is missing', { matchLabels: { app: 'agent' } }, {}, false],
  ['all labels must be equal', { matchLabels: { app: 'agent', tier: 'node' } }, { app: 'agent' }, false],
  ['In', { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] }, { app: 'b' }, true],
  ['not In', { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] }, { app: 'c' }, false],
  ['NotIn', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] }, { app: 'c' }, true],
  ['NotIn, but it is', { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] }, { app: 'a' }, false],
  [
    'NotIn holds for a missing label',
    { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] },
    {},
    true,
  ],
  ['Exists', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, { app: '' }, true],
  ['Exists, but it does not', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, {}, false],
  ['DoesNotExist', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, {}, true],
  ['DoesNotExist, but it does', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, { app: '' }, false],
  [
    'labels and expressions together',
    { matchLabels: { app: 'agent' }, matchExpressions: [{ key: 'canary', operator: 'DoesNotExist' }] },
    { app: 'agent', canary: 'yes' },
    false,
  ],
  ['an empty selector matches nothing', {}, { app: 'agent' }, false],
  ['no selector matches nothing', undefined, { app: 'agent' }, false],
  ['a null selector matches nothing', null, { app: 'agent' }, false],
  [
    'an unknown operator matches nothing',
    { matchExpressions: [{ key: 'app', operator: 'Near' }] },
    { app: 'x' },
    false,
  ],
  [
    'an unsupported requirement does not widen the selector',
    { matchLabels: { app: 'agent' }, matchExpressions: [{ key: 'app', operator: 'Gt', values: ['1'] }] },
    { app: 'agent' },
    false,
  ],
  [
    'an expression that is not an object',
    { matchLabels: { app: 'agent' }, matchExpressions: [7] },
    { app: 'agent' },
    false,
  ],
  ['NotIn without values', { matchExpressions: [{ key: 'app', operator: 'NotIn' }] }, { app: 'agent' }, false],
  ['a label value that is not a string', { matchLabels: { app: 1 } }, { app: '1' }, false],
  [
    'expressions that are not a list',
    { matchLabels: { app: 'agent' }, matchExpressions: 'x' },
    { app: 'agent' },
    false,
  ],
];

for (const [name, selector, labels, expected] of rows) {
  test(`a DaemonSet's selector: ${name}`, () => {
    assert.equal(selectsLabels(aView(selector), labels), expected);
  });
}

test('a DaemonSet is transformed to a small view, and an empty one is accepted', () => {
  const { namespace, name, uid, resourceVersion } = aView({ matchLabels: { app: 'agent' } });
  assert.deepEqual([namespace, name, uid, resourceVersion], ['kube-system', 'agent', 'u', '7']);
  const bare: DaemonSet = { metadata: {} };
  assert.deepEqual(transformDaemonSet(bare), { namespace: '', name: '', uid: '', resourceVersion: '', selector: [] });
});
