import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DaemonSet, type LabelSelector, selectsLabels, viewDaemonSet } from '../../../src/api/daemonset.ts';

function aView(selector: unknown): ReturnType<typeof viewDaemonSet> {
  const metadata = { namespace: 'kube-system', name: 'agent', uid: 'u', resourceVersion: '7' };
  return viewDaemonSet({ metadata, spec: { selector: selector as LabelSelector } });
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
  ['an empty selector names nothing', {}, { app: 'agent' }, false],
  ['no selector names nothing', undefined, { app: 'agent' }, false],
  ['a selector of null names nothing', null, { app: 'agent' }, false],
  ['an unknown operator names nothing', { matchExpressions: [{ key: 'app', operator: 'Near' }] }, { app: 'x' }, false],
  [
    'what is not understood does not widen the rest',
    { matchLabels: { app: 'agent' }, matchExpressions: [{ key: 'app', operator: 'Gt', values: ['1'] }] },
    { app: 'agent' },
    false,
  ],
  ['an expression that is none', { matchLabels: { app: 'agent' }, matchExpressions: [7] }, { app: 'agent' }, false],
  ['NotIn without values', { matchExpressions: [{ key: 'app', operator: 'NotIn' }] }, { app: 'agent' }, false],
  ['a label value that is no text', { matchLabels: { app: 1 } }, { app: '1' }, false],
  ['expressions that are no list', { matchLabels: { app: 'agent' }, matchExpressions: 'x' }, { app: 'agent' }, false],
];

for (const [name, selector, labels, expected] of rows) {
  test(`a DaemonSet's selector: ${name}`, () => {
    assert.equal(selectsLabels(aView(selector), labels), expected);
  });
}

test('a DaemonSet is kept as a small view, and one without anything in it does no harm', () => {
  const { namespace, name, uid, resourceVersion } = aView({ matchLabels: { app: 'agent' } });
  assert.deepEqual([namespace, name, uid, resourceVersion], ['kube-system', 'agent', 'u', '7']);
  const bare: DaemonSet = { metadata: {} };
  assert.deepEqual(viewDaemonSet(bare), { namespace: '', name: '', uid: '', resourceVersion: '', selector: [] });
});
