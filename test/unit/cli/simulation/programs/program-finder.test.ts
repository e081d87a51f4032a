import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildsFolder, findPrograms } from '../../../../../src/cli/simulation/programs/program-finder.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

function folderWith(folder: string, programs: readonly string[], mode = 0o755): string {
  mkdirSync(folder, { recursive: true });
  for (const program of programs) writeFileSync(join(folder, program), '#!/bin/sh\n', { mode });
  return folder;
}

const both = ['kube-scheduler', 'kube-controller-manager'] as const;
const inFolder = (folder: string): ReadonlyMap<string, string> =>
  new Map(both.map((name) => [name, join(folder, name)]));

test('KUBEBUILDER_ASSETS takes precedence, and nothing else is searched then', () => {
  const given = folderWith(tempFolder(), both);
  const onPath = folderWith(tempFolder(), both);
  const env = { KUBEBUILDER_ASSETS: given, PATH: onPath, XDG_CACHE_HOME: tempFolder() };
  assert.deepEqual(findPrograms(both, env), inFolder(given));
  assert.equal(findPrograms(both, { ...env, KUBEBUILDER_ASSETS: tempFolder() }), undefined);
});

test('the newest build with all programs is used', () => {
  const env = { XDG_CACHE_HOME: tempFolder(), PATH: '' };
  const older = folderWith(join(buildsFolder(env), 'older'), both);
  const newer = folderWith(join(buildsFolder(env), 'newer'), both);
  const incomplete = folderWith(join(buildsFolder(env), 'incomplete'), ['kube-scheduler']);
  for (const [folder, seconds] of [
    [older, 100],
    [newer, 200],
    [incomplete, 300],
  ] as const)
    utimesSync(folder, seconds, seconds);
  assert.deepEqual(findPrograms(both, env), inFolder(newer));
});

test('the builds of other Kubernetes versions for tests, one folder deeper, are not used', () => {
  const env = { XDG_CACHE_HOME: tempFolder(), PATH: '' };
  folderWith(join(buildsFolder(env), '1.34', 'build'), both);
  assert.equal(findPrograms(both, env), undefined);
  const build = folderWith(join(buildsFolder(env), 'build'), both);
  assert.deepEqual(findPrograms(both, env), inFolder(build));
});

test('programs on the PATH may be in different folders; one that is missing or not executable is not found', () => {
  const [first, second] = [
    folderWith(tempFolder(), ['kube-scheduler']),
    folderWith(tempFolder(), ['kube-controller-manager']),
  ];
  const env = { XDG_CACHE_HOME: tempFolder(), PATH: `${first}::${second}` };
  assert.equal(findPrograms(both, env)?.get('kube-controller-manager'), join(second, 'kube-controller-manager'));
  assert.equal(findPrograms(both, { ...env, PATH: first }), undefined);
  const plain = folderWith(tempFolder(), both, 0o644);
  assert.equal(findPrograms(both, { ...env, PATH: plain }), undefined);
});
