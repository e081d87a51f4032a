// The tests of a file are found at the same path below test/unit.
import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');

/** `a/b.test.ts` and `a/b.some-aspect.test.ts` are about `a/b.ts`: of src, of tools, or of the helpers of a test suite. */
function subjectsOf(path: string): readonly string[] {
  const name = path.slice(dirname(path).length + 1).split('.')[0];
  const subject = `${dirname(path)}/${name}.ts`;
  return [`src/${subject}`, subject, `test/${subject}`];
}

test('every unit test is where the file is that it tests', () => {
  const files = globSync('**/*.test.ts', { cwd: join(root, 'test/unit') });
  assert.ok(files.length > 100);
  for (const file of files) {
    assert.ok(
      subjectsOf(file).some((subject) => existsSync(join(root, subject))),
      `test/unit/${file}: there is no ${subjectsOf(file).join(', no ')}; move it beside the path of the file it tests, or to test/scenarios where it is about several`,
    );
  }
});
