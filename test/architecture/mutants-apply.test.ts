// A mutant is an edit of a source file: where the code has moved on, it plants nothing, and the search measures nothing.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { applyEdit, editsOf } from '../simulator/mutants/mutant.ts';
import { mutants } from '../simulator/mutants/mutants.ts';

const sources = join(import.meta.dirname, '..', '..', 'src');

test('every mutant changes the code as it is', () => {
  assert.ok(mutants.length > 80, `${mutants.length} mutants`);
  for (const mutant of mutants) {
    for (const edit of editsOf(mutant)) {
      const text = readFileSync(join(sources, edit.file), 'utf8');
      assert.notEqual(applyEdit(text, edit), text, mutant.name);
    }
  }
});
