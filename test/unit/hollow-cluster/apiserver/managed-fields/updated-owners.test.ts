// The short ways of an update have the result of the long ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapOf } from '../../../../../src/machinery/api/json-map.ts';
import { compareObjects } from '../../../../../src/hollow-cluster/apiserver/managed-fields/compare-values.ts';
import { FieldSet } from '../../../../../src/hollow-cluster/apiserver/managed-fields/field-set.ts';
import { encodeFields } from '../../../../../src/hollow-cluster/apiserver/managed-fields/fields-v1.ts';
import {
  decodeManagers,
  encodeManagers,
  isSameManager,
  type ManagerEntry,
  sortManagers,
} from '../../../../../src/hollow-cluster/apiserver/managed-fields/manager-entry.ts';
import { Comparisons, trackChanges } from '../../../../../src/hollow-cluster/apiserver/managed-fields/track-changes.ts';
import { decideUpdate } from '../../../../../src/hollow-cluster/apiserver/managed-fields/updated-owners.ts';
import { untrackedFields } from '../../../../../src/hollow-cluster/apiserver/managed-fields/kept-owners.ts';
import { describe, eachStep, type State, type StateDraw, type, version, versions } from './owner-histories.ts';

const writer = { manager: 'one', subresource: '', now: '2026-01-01T00:00:10Z' };

/** As upstream does it: all managers lose what changed, the writer included, which then receives it again. */
function updateInSteps({ object, managers }: State, after: State['object']): readonly ManagerEntry[] {
  const comparisons = new Comparisons({ before: object, after, version, versions });
  const { managers: kept } = trackChanges(comparisons, managers);
  const fields = comparisons.own.changed.difference(untrackedFields);
  if (fields.isEmpty) return kept;
  const entry: ManagerEntry = {
    manager: 'one',
    operation: 'Update',
    apiVersion: 'v1',
    subresource: '',
    fields,
    time: writer.now,
  };
  const previous = kept.find((other) => isSameManager(other, entry));
  const others = kept.filter((other) => other !== previous);
  return [...others, { ...entry, fields: previous === undefined ? fields : previous.fields.union(fields) }];
}

test('a writer that owns what it changes keeps it as if it had lost and received it', () => {
  eachStep((state, draw) => {
    const after = draw.object();
    const { object, managers } = state;
    const updated = decideUpdate({ before: object, after, version, versions }, managers, writer);
    const expected = updateInSteps(state, after);
    const [short, long] = [updated, expected].map((entries) => describe({ object, managers: sortManagers(entries) }));
    assert.deepEqual(short, long);
  });
});

test('a repeated change of the same fields keeps the field set of its writer', () => {
  eachStep(({ object, managers }) => {
    const write = (from: State, text: string): State => {
      const after = { spec: { ...mapOf(object['spec']), text } };
      const change = { before: from.object, after, version, versions };
      return { object: after, managers: decideUpdate(change, from.managers, writer) };
    };
    const own = (state: State): ManagerEntry | undefined =>
      state.managers.find(({ manager, operation }) => manager === 'one' && operation === 'Update');
    const owned = write(write({ object, managers }, 'first'), 'second');
    assert.ok(own(owned) !== undefined);
    assert.equal(own(write(owned, 'third'))?.fields, own(owned)?.fields);
  });
});

test('a change of a few values has the same owners, whether its writer had them or not', () => {
  const empty = { operation: 'Update', subresource: '', time: undefined, fields: FieldSet.empty } as const;
  const strange = [['f:metadata', 'f:name'], ['f:spec']];
  let short = 0;
  eachStep(({ object, managers }, draw) => {
    const nothing: ManagerEntry = { ...empty, manager: 'one', apiVersion: 'v1' };
    const untracked: ManagerEntry = { ...nothing, manager: 'two', subresource: 'x', fields: FieldSet.of(...strange) };
    for (const entries of [managers, [...managers, untracked], [...managers, { ...nothing, manager: 'four' }]]) {
      const state = { object, managers: entries };
      const after = changeValues(object, draw);
      const updated = decideUpdate({ before: object, after, version, versions }, entries, writer);
      const expected = updateInSteps(state, after);
      assert.deepEqual(
        describe({ object, managers: sortManagers(updated) }),
        describe({ object, managers: sortManagers(expected) }),
      );
      if (updated.some(({ time, fields }) => time === writer.now && entries.some((known) => known.fields === fields))) {
        short += 1;
      }
    }
  });
  assert.ok(short > 50, `${short} writes changed what their writer owned`);
});

/** The object with other values of some of the fields that it has. */
function changeValues(object: State['object'], draw: StateDraw): State['object'] {
  const turned = (value: unknown): unknown => {
    if (typeof value === 'string') return draw.one([value, `${value}z`]);
    if (Array.isArray(value)) return value.map((item: unknown) => (typeof item === 'string' ? item : turned(item)));
    return Object.fromEntries(
      Object.entries(mapOf(value)).map(([name, field]) => [name, name === 'key' ? field : turned(field)]),
    );
  };
  return mapOf(turned(object));
}

test('the order of items with keys makes no difference to what changed', () => {
  eachStep(({ object }, draw) => {
    const after = draw.object();
    const turned = turn(after);
    const [straight, other] = [after, turned].map((value) => compareObjects(type, object, value));
    assert.ok(straight !== undefined && other !== undefined);
    assert.equal(encodeFields(straight.changed), encodeFields(other.changed));
    assert.equal(encodeFields(straight.removed), encodeFields(other.removed));
  });
});

/** The object with its list of items in reverse order. */
function turn(object: State['object']): State['object'] {
  const { spec } = object as { readonly spec?: { readonly items?: readonly unknown[] } };
  return spec?.items === undefined ? object : { spec: { ...spec, items: spec.items.toReversed() } };
}

test('owners that a client sends back are those that are known, changed ones are decoded', () => {
  eachStep(({ managers }, draw) => {
    const json: unknown = JSON.parse(encodeManagers(managers, encodeFields));
    const decoded = decodeManagers(json, managers) ?? [];
    for (const { fields } of decoded) assert.ok(managers.some((known) => known.fields === fields));
    const others = decideUpdate({ before: {}, after: draw.object(), version, versions }, [], writer);
    const [known, unknown] = [others, []].map((entries) => decodeManagers(json, entries) ?? []);
    assert.deepEqual(
      describe({ object: {}, managers: known ?? [] }),
      describe({ object: {}, managers: unknown ?? [] }),
    );
  });
});

test('managers beyond ten are merged in time that grows with their number', () => {
  const change = { before: {}, after: {}, version, versions };
  const managersOf = (count: number): readonly ManagerEntry[] =>
    Array.from({ length: count }, (_, index) => ({
      manager: `m${index}`,
      operation: 'Update',
      apiVersion: version.apiVersion,
      subresource: '',
      time: writer.now,
      fields: FieldSet.of(['f:data', `f:k${index}`]),
    }));
  const fastestMs = (managers: readonly ManagerEntry[]): number => {
    const times = [1, 2, 3].map(() => {
      const started = performance.now();
      assert.equal(decideUpdate(change, managers, writer).length, 10);
      return performance.now() - started;
    });
    return Math.min(...times);
  };
  const [few, many] = [managersOf(1_000), managersOf(16_000)];
  // Quadratic, 256 times as long.
  assert.ok(fastestMs(many) < 80 * Math.max(fastestMs(few), 1));
});
