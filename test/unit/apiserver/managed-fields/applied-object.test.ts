import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapOf, withoutNulls } from '../../../../src/api/json-map.ts';
import { decideApply } from '../../../../src/apiserver/managed-fields/applied-object.ts';
import { collectFields } from '../../../../src/apiserver/managed-fields/collect-fields.ts';
import { typeOfSchema } from '../../../../src/apiserver/managed-fields/custom-types.ts';
import { FieldSet } from '../../../../src/apiserver/managed-fields/field-set.ts';
import { decodeFields, encodeFields } from '../../../../src/apiserver/managed-fields/fields-v1.ts';
import type { ManagerEntry } from '../../../../src/apiserver/managed-fields/manager-entry.ts';
import { decideUpdate } from '../../../../src/apiserver/managed-fields/updated-owners.ts';
import { Draw } from '../../../support/draw.ts';

const item = { type: 'object', properties: { key: { type: 'string' }, a: { type: 'string' }, b: { type: 'string' } } };
const spec = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    items: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] },
    whole: { type: 'array', items: { type: 'string' } },
    inner: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
  },
};
const type = typeOfSchema({ type: 'object', properties: { spec } });
const version = { apiVersion: 'v1', type, reset: FieldSet.empty };
const versions = { find: () => version, convert: (object: object) => ({ ...object }) };

interface State {
  readonly object: Readonly<Record<string, unknown>>;
  readonly managers: readonly ManagerEntry[];
}

/** Objects, managers and steps drawn from a seed. */
class StateDraw extends Draw {
  object(): Readonly<Record<string, unknown>> {
    const values = ['x', 'y'] as const;
    const fields = (names: readonly string[]): object =>
      Object.fromEntries(this.some(names).map((name) => [name, this.one(values)] as const));
    const parts = {
      text: this.one(values),
      labels: fields(['a', 'b', 'c']),
      set: this.some(['p', 'q', 'r']),
      items: this.some(['k', 'l', 'm']).map((key) => ({ key, ...fields(['a', 'b']) })),
      whole: this.some(['1', '2']),
      inner: fields(['a', 'b']),
    };
    // Empty parts are null after a removal and absent once they are stored: not a matter of ownership.
    const chosen = this.some(Object.entries(parts)).filter(([, part]) => Object.keys(part).length > 0);
    return chosen.length === 0 ? {} : { spec: Object.fromEntries(chosen) };
  }
}

function apply({ object, managers }: State, applied: State['object'], manager: string): State {
  const writer = { manager, subresource: '', now: '2026-01-01T00:00:00Z' };
  const result = decideApply({ live: object, applied, version, versions }, managers, writer);
  return { object: mapOf(withoutNulls(result.object)), managers: result.managers };
}

function update({ object, managers }: State, after: State['object'], manager: string): State {
  const writer = { manager, subresource: '', now: '2026-01-01T00:00:00Z' };
  return { object: after, managers: decideUpdate({ before: object, after, version, versions }, managers, writer) };
}

type Step = typeof apply;

function eachStep(
  check: (before: State, draw: StateDraw) => void,
  steps: readonly [Step, ...Step[]] = [apply, update],
): void {
  for (let seed = 1; seed <= 60; seed += 1) {
    const draw = new StateDraw(seed);
    let state: State = { object: {}, managers: [] };
    for (let step = 0; step < 8; step += 1) {
      check(state, draw);
      const manager = draw.one(['one', 'two', 'three']);
      const change = draw.one(steps);
      state = change(state, draw.object(), manager);
    }
  }
}

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

function describe({ managers }: State): readonly unknown[] {
  return managers.map(({ fields, ...entry }) => ({ ...entry, fields: encodeFields(fields) }));
}
