// The workflows cannot run here; actionlint checks syntax, expressions and the shell commands' quoting, and the tests the pins and permissions.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../../tools/manifests/render.ts';
import { findReleasePrograms } from '../../tools/packaging/release-programs.ts';
import { tempFolder } from '../support/temp-folder.ts';

const found = findReleasePrograms();
const programs = 'missing' in found ? assert.fail(found.missing) : found;
const files = globSync('.github/workflows/*.yml', { cwd: root }).sort();

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions: Record<string, string>;
        readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: object }[];
      }
    >
  >;
}

const workflows = files.map((file) => [file, parse(readFileSync(join(root, file), 'utf8')) as Workflow] as const);

function lint(paths: readonly string[], cwd: string): { readonly code: number | null; readonly printed: string } {
  const { status, stdout, stderr } = spawnSync(programs.actionlint, ['-no-color', ...paths], { cwd, encoding: 'utf8' });
  return { code: status, printed: stdout + stderr };
}

test('actionlint accepts the workflows, and not one with an unknown context', () => {
  assert.deepEqual(files, ['.github/workflows/ci.yml', '.github/workflows/release.yml']);
  assert.deepEqual(lint(files, root), { code: 0, printed: '' });
  const folder = tempFolder();
  mkdirSync(join(folder, '.github', 'workflows'), { recursive: true });
  const text = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
  writeFileSync(join(folder, '.github', 'workflows', 'ci.yml'), text.replace('github.ref', 'github.reff'));
  assert.match(lint(['.github/workflows/ci.yml'], folder).printed, /property "reff" is not defined/);
});

test('every action is pinned by a commit with its version, and keeps no credentials', () => {
  for (const file of files) {
    const uses = readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => /\buses:/.test(line));
    assert.ok(uses.length > 0);
    for (const line of uses) assert.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
  for (const [file, { jobs }] of workflows)
    for (const { steps } of Object.values(jobs))
      for (const step of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')))
        assert.equal((step.with as Record<string, unknown>)['persist-credentials'], false, file);
});

test('no permission by default, and only the job that publishes may write', () => {
  for (const [file, { permissions, jobs }] of workflows) {
    assert.deepEqual(permissions, {}, file);
    for (const [name, job] of Object.entries(jobs)) {
      const writes = Object.entries(job.permissions)
        .filter(([, access]) => access !== 'read')
        .map(([scope]) => scope);
      const expected = name === 'publish' ? ['contents', 'packages', 'id-token'] : [];
      assert.deepEqual(writes, expected, `${file}: ${name}`);
    }
  }
});

test('a job that may write runs no program of an npm package', () => {
  for (const [file, { jobs }] of workflows) {
    for (const [name, { permissions, steps }] of Object.entries(jobs)) {
      const runs = steps.map(({ run = '' }) => run).join('\n');
      const mayWrite = Object.values(permissions).some((access) => access !== 'read');
      if (mayWrite) assert.doesNotMatch(runs, /\b(?:npm|npx|node|\.ci\/run)\s/, `${file}: ${name}`);
      else assert.doesNotMatch(JSON.stringify(jobs[name]), /github\.token|secrets\./, `${file}: ${name}`);
    }
  }
  assert.match(JSON.stringify(workflows), /npm ci/);
});
