import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldSet } from '../../../../../src/hollow-cluster/apiserver/managed-fields/field-set.ts';
import { fieldElement } from '../../../../../src/hollow-cluster/apiserver/managed-fields/path-element.ts';
import {
  encodeShared,
  shareFields,
} from '../../../../../src/hollow-cluster/apiserver/managed-fields/shared-field-sets.ts';

/** A set whose text has about `length` characters: {"f:data":{"f:xxx":{}}}. */
function setOf(length: number): FieldSet {
  return FieldSet.of(['data', 'x'.repeat(length)].map(fieldElement));
}

test('equal sets are one object, unless their text is large: those are not kept', () => {
  const small = setOf(16_000);
  assert.equal(shareFields(small), small);
  assert.equal(shareFields(setOf(16_000)), small);
  const large = setOf(16_400);
  assert.ok(encodeShared(setOf(16_400)).length > 16 * 1_024);
  assert.equal(shareFields(large), large);
  const equal = setOf(16_400);
  assert.equal(shareFields(equal), equal);
});

test('sets that differ in one part have the same object for the equal ones', () => {
  const [first, second] = ['a', 'b'].map((label) =>
    shareFields(
      FieldSet.of(
        ['metadata', label].map(fieldElement),
        ...['x', 'y', 'z'].map((name) => ['spec', name].map(fieldElement)),
      ),
    ),
  );
  assert.ok(first !== undefined && second !== undefined);
  const [spec, metadata] = ['spec', 'metadata'].map(fieldElement);
  assert.equal(first.below(spec ?? ''), second.below(spec ?? ''));
  assert.notEqual(first.below(metadata ?? ''), second.below(metadata ?? ''));
  assert.equal(encodeShared(second), '{"f:metadata":{"f:b":{}},"f:spec":{"f:x":{},"f:y":{},"f:z":{}}}');
});
