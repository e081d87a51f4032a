// Histories of objects and their owners, drawn from a seed.
import { mapOf, withoutNulls } from '../../../../../src/machinery/api/json-map.ts';
import { decideApply } from '../../../../../src/hollow-cluster/apiserver/managed-fields/applied-object.ts';
import { typeOfSchema } from '../../../../../src/hollow-cluster/apiserver/managed-fields/custom-types.ts';
import { FieldSet } from '../../../../../src/hollow-cluster/apiserver/managed-fields/field-set.ts';
import { encodeFields } from '../../../../../src/hollow-cluster/apiserver/managed-fields/fields-v1.ts';
import type { ManagerEntry } from '../../../../../src/hollow-cluster/apiserver/managed-fields/manager-entry.ts';
import { decideUpdate } from '../../../../../src/hollow-cluster/apiserver/managed-fields/updated-owners.ts';
import { Draw } from '../../../../support/draw.ts';

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
export const type = typeOfSchema({ type: 'object', properties: { spec } });
export const version = { apiVersion: 'v1', type, reset: FieldSet.empty };
export const versions = { find: () => version, convert: (object: object) => ({ ...object }) };

export interface State {
  readonly object: Readonly<Record<string, unknown>>;
  readonly managers: readonly ManagerEntry[];
}

/** Objects, managers and steps drawn from a seed. */
export class StateDraw extends Draw {
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

export function apply({ object, managers }: State, applied: State['object'], manager: string): State {
  const writer = { manager, subresource: '', now: '2026-01-01T00:00:00Z' };
  const result = decideApply({ live: object, applied, version, versions }, managers, writer);
  return { object: mapOf(withoutNulls(result.object)), managers: result.managers };
}

export function update({ object, managers }: State, after: State['object'], manager: string): State {
  const writer = { manager, subresource: '', now: '2026-01-01T00:00:00Z' };
  return { object: after, managers: decideUpdate({ before: object, after, version, versions }, managers, writer) };
}

type Step = typeof apply;

export function eachStep(
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

export function describe({ managers }: State): readonly unknown[] {
  return managers.map(({ fields, ...entry }) => ({ ...entry, fields: encodeFields(fields) }));
}
