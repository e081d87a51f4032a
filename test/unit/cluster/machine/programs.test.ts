// Programs that are built when a story needs them, for all clusters of a process.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildOnce } from '../../../cluster/machine/programs.ts';

test('two clusters that need a program build it once; one that could not be built is tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'build-once-'));
  try {
    const file = join(folder, 'program');
    let builds = 0;
    const build = async (unfinished: string): Promise<void> => {
      builds += 1;
      await Promise.resolve();
      if (builds === 1) throw new Error('no network');
      writeFileSync(unfinished, 'built');
    };
    const failed = await Promise.allSettled([buildOnce(file, build), buildOnce(file, build)]);
    assert.deepEqual([failed.map(({ status }) => status), builds], [['rejected', 'rejected'], 1]);
    assert.deepEqual(await Promise.all([buildOnce(file, build), buildOnce(file, build)]), [file, file]);
    assert.equal(await buildOnce(file, build), file);
    assert.deepEqual([builds, readFileSync(file, 'utf8'), readdirSync(folder)], [2, 'built', ['program']]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
