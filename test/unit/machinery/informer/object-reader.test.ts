import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  internedStringsMax,
  internedStructuresMax,
  ValueInterner,
} from '../../../../src/machinery/informer/object-reader.ts';

describe('shared values', () => {
  it('returns the first of equal structures for each later one', () => {
    const values = new ValueInterner();
    const first = [{ key: 'a', operator: 'Exists' }];
    assert.equal(values.intern(first), first);
    assert.equal(values.intern([{ key: 'a', operator: 'Exists' }]), first);
    const other = [{ key: 'b', operator: 'Exists' }];
    assert.equal(values.intern(other), other);
  });

  it('keeps the names of more nodes than it keeps structures, and of neither more than its bound', () => {
    const values = new ValueInterner();
    for (let index = 0; index < internedStringsMax + 5; index++) values.intern(`node-${index}`);
    assert.equal(values.size, internedStringsMax);
    for (let index = 0; index < internedStructuresMax + 5; index++) values.intern([index]);
    assert.equal(values.size, internedStringsMax + internedStructuresMax);
    const late = [internedStructuresMax + 1];
    assert.equal(values.intern(late), late);
    assert.notEqual(values.intern([internedStructuresMax + 1]), late, 'a value that was passed through is not kept');
  });

  it('returns other values than strings and structures as they are', () => {
    const values = new ValueInterner();
    assert.deepEqual([values.intern(7), values.intern(null), values.intern(undefined)], [7, null, undefined]);
    assert.equal(values.size, 0);
  });
});
