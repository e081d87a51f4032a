import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCustomForm } from '../../../../../src/hollow-cluster/apiserver/codec/custom-form.ts';
import { WireFormError } from '../../../../../src/hollow-cluster/apiserver/codec/wire-form.ts';

const schema = {
  properties: {
    metadata: { type: 'object' },
    spec: {
      properties: {
        mode: { type: 'string' },
        labels: { additionalProperties: { type: 'string' } },
        items: { items: { properties: { key: { type: 'string' } } } },
      },
    },
  },
};

test('fields that the schema does not have are dropped and reported, keys of mappings stay', () => {
  const { object, unknown } = toCustomForm(schema, {
    metadata: { name: 'a', nonsense: 1 },
    spec: { mode: 'x', other: 1, labels: { any: 'b' }, items: [{ key: 'k' }, { key: 'l', value: 2 }] },
    extra: {},
  });
  assert.deepEqual(object, {
    metadata: { name: 'a' },
    spec: { mode: 'x', labels: { any: 'b' }, items: [{ key: 'k' }, { key: 'l' }] },
  });
  assert.deepEqual(unknown, ['metadata.nonsense', 'spec.other', 'spec.items[1].value', 'extra']);
});

test('values of another type stay as they are: validation refuses them', () => {
  const { object, unknown } = toCustomForm(schema, { metadata: { name: 'a' }, spec: { items: 'x', labels: 7 } });
  assert.deepEqual([object['spec'], unknown], [{ items: 'x', labels: 7 }, []]);
});

test('malformed metadata is an error that names the field', () => {
  assert.throws(
    () => toCustomForm(schema, { metadata: { labels: { a: 7 } } }),
    (error) => error instanceof WireFormError && error.message.includes('metadata.labels[a]: must be a string'),
  );
});
