import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutTrailing } from '../../../../src/machinery/api/without-trailing.ts';

test('only the characters at the end are removed', () => {
  assert.equal(withoutTrailing('/a//b//', '/'), '/a//b');
  assert.equal(withoutTrailing('a', '/'), 'a');
  assert.equal(withoutTrailing('//', '/'), '');
  assert.equal(withoutTrailing('', '/'), '');
});
