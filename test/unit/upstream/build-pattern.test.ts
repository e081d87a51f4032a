import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildFocusPattern, buildRunPattern } from '../../upstream/build-pattern.ts';

describe('patterns for tests', () => {
  it('of ginkgo match the title of the suite and whole names only, with all special characters', () => {
    const names = ['[sig-apps] Job (a|b) "x" => 1.5$', 'A^B {c} d+ e* f? \\g'];
    const pattern = new RegExp(buildFocusPattern('e2e (all)', names));
    for (const name of names) assert.ok(pattern.test(`e2e (all) ${name}`), name);
    assert.ok(!pattern.test(`e2e (all) ${names[0]} more`));
    assert.ok(!pattern.test(`e2e (all) more ${names[0]}`));
    assert.ok(!pattern.test(`more e2e (all) ${names[0]}`));
  });

  it('of go test have one expression for each level, without repetitions', () => {
    assert.equal(buildRunPattern(['TestA/x;_y', 'TestA/z', 'TestB']), '^(?:TestA|TestB)$/^(?:x;_y|z)$');
  });
});
