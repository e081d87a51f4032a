import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { readSource } from '../../../../../tools/packaging/image/read-source.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

const before = process.env['SOURCE_DATE_EPOCH'];
afterEach(() => setEpoch(before));

function setEpoch(value: string | undefined): void {
  if (value === undefined) delete process.env['SOURCE_DATE_EPOCH'];
  else process.env['SOURCE_DATE_EPOCH'] = value;
}

function repository(): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'a'), '1');
  const env = { ...process.env, GIT_COMMITTER_DATE: '1700000000 +0000', GIT_CONFIG_GLOBAL: '/dev/null' };
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  for (const args of [
    ['init', '--quiet'],
    ['add', 'a'],
    [...identity, 'commit', '--quiet', '--message=a'],
  ]) {
    const { status, stderr } = spawnSync('git', args, { cwd: folder, env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
  return folder;
}

test('the time is that of the commit, and files that differ from it are reported', () => {
  setEpoch(undefined);
  const folder = repository();
  const clean = readSource(folder, undefined);
  assert.deepEqual([clean.created.getTime(), clean.changed], [1_700_000_000_000, false]);
  assert.match(clean.commit ?? '', /^[0-9a-f]{40}$/);
  writeFileSync(join(folder, 'untracked'), '');
  assert.equal(readSource(folder, undefined).changed, false);
  writeFileSync(join(folder, 'a'), '2');
  assert.equal(readSource(folder, undefined).changed, true);
});

test('SOURCE_DATE_EPOCH takes precedence, and is needed without a commit', () => {
  setEpoch('1');
  assert.equal(readSource(repository(), undefined).created.getTime(), 1_000);
  const { commit, changed } = readSource(tempFolder(), undefined);
  assert.deepEqual([commit, changed], [undefined, false]);
  setEpoch('yesterday');
  assert.throws(() => readSource(tempFolder(), undefined), /SOURCE_DATE_EPOCH: must be Unix seconds \(got yesterday\)/);
  setEpoch(undefined);
  assert.throws(() => readSource(tempFolder(), undefined), /no git commit: set SOURCE_DATE_EPOCH/);
});
