import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { applyEdit, editsOf } from '../../../simulator/mutants/mutant.ts';
import { findMutant, mutants } from '../../../simulator/mutants/mutants.ts';

const sources = join(import.meta.dirname, '../../../../src');

test('the text that a mutant replaces occurs exactly once in its file', () => {
  for (const mutant of mutants) {
    for (const edit of editsOf(mutant)) {
      const source = readFileSync(join(sources, edit.file), 'utf8');
      assert.notEqual(applyEdit(source, edit), source, mutant.name);
    }
  }
});

test('a mutant has a name of its own', () => {
  assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length);
  assert.throws(() => findMutant('no-such-mutant'), /no mutant no-such-mutant/);
});

test('a text that occurs twice, or not at all, is refused', () => {
  const edit = { file: 'a.ts', find: 'x', replace: 'y' };
  assert.throws(() => applyEdit('x + x', edit), /found 2 times/);
  assert.throws(() => applyEdit('z', edit), /found 0 times/);
});
