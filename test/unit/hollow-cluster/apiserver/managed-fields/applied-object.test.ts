import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideApply } from '../../../../../src/hollow-cluster/apiserver/managed-fields/applied-object.ts';
import { collectFields } from '../../../../../src/hollow-cluster/apiserver/managed-fields/collect-fields.ts';
import { FieldSet } from '../../../../../src/hollow-cluster/apiserver/managed-fields/field-set.ts';
import { decodeFields, encodeFields } from '../../../../../src/hollow-cluster/apiserver/managed-fields/fields-v1.ts';
import { apply, describe, eachStep, type State, type, update, version, versions } from './owner-histories.ts';

test('an apply that is repeated changes nothing', () => {
  eachStep((state, draw) => {
    const applied = draw.object();
    const once = apply(state, applied, 'one');
    const twice = apply(once, applied, 'one');
    assert.deepEqual(twice.object, once.object);
    assert.deepEqual(describe(twice), describe(once));
    assert.deepEqual(decideAgain(once, applied), []);
  });
});

/** The conflicts of applying the same again. */
function decideAgain({ object, managers }: State, applied: State['object']): readonly unknown[] {
  const writer = { manager: 'one', subresource: '', now: '2026-01-01T00:00:00Z' };
  return decideApply({ live: object, applied, version, versions }, managers, writer).conflicts;
}

test('an applier owns every field of its configuration, and the object has its values', () => {
  eachStep((state, draw) => {
    const applied = draw.object();
    const { object, managers } = apply(state, applied, 'one');
    const fields = collectFields(type, applied);
    const own = managers.find(({ manager, operation }) => manager === 'one' && operation === 'Apply');
    assert.ok((own?.fields ?? FieldSet.empty).equals(fields));
    assert.ok(fields.difference(collectFields(type, object)).isEmpty);
  });
});

test('fields that updates removed have no owner', () => {
  eachStep(
    (state) => {
      assert.deepEqual(update(state, {}, 'four').managers, []);
    },
    [update],
  );
});

test('field sets survive FieldsV1, in canonical order', () => {
  eachStep(({ managers }) => {
    for (const { fields } of managers) {
      const text = encodeFields(fields);
      const decoded = decodeFields(JSON.parse(text));
      assert.ok(decoded.equals(fields), text);
      assert.equal(encodeFields(decoded), text);
    }
  });
});

test('set operations obey their laws', () => {
  eachStep((_state, draw) => {
    const [a, b] = [collectFields(type, draw.object()), collectFields(type, draw.object())];
    assert.ok(a.union(b).difference(b).union(a.intersection(b)).equals(a));
    assert.ok(a.intersection(b).equals(b.intersection(a)));
    assert.equal(a.union(a.intersection(b)), a);
    assert.ok(a.recursiveDifference(a).isEmpty);
  });
});
