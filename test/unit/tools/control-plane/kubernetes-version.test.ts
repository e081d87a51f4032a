import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  defaultVersion,
  kubernetesVersions,
  selectedVersion,
  selectVersion,
  splitArguments,
} from '../../../../tools/control-plane/kubernetes-version.ts';
import { controlPlaneBuild, goBuildCommand } from '../../../../tools/control-plane/programs.ts';

test('--kubernetes is split from the other arguments, in both forms', () => {
  assert.deepEqual(splitArguments(['--optional', 'a.test.ts']), {
    version: undefined,
    others: ['--optional', 'a.test.ts'],
  });
  assert.deepEqual(splitArguments(['a', '--kubernetes', '1.34', 'b']), { version: '1.34', others: ['a', 'b'] });
  assert.deepEqual(splitArguments(['a', '--kubernetes=1.36', 'b']), { version: '1.36', others: ['a', 'b'] });
});

test('an unknown, missing or repeated version is an error that names the accepted ones', () => {
  const accepted = '--kubernetes: must be one of 1.34, 1.35, 1.36, 1.37';
  assert.throws(() => splitArguments(['--kubernetes', '1.33']), { message: `${accepted} (got 1.33)` });
  assert.throws(() => splitArguments(['--kubernetes=1.34.12']), { message: `${accepted} (got 1.34.12)` });
  assert.throws(() => splitArguments(['--kubernetes']), { message: `${accepted} (got nothing)` });
  assert.throws(() => splitArguments(['--kubernetes=1.34', '--kubernetes=1.35']), /--kubernetes: must be given once/);
});

test('the selected version is that of the environment, the default without one', () => {
  const env: Record<string, string | undefined> = {};
  assert.equal(selectedVersion(env), defaultVersion);
  selectVersion('1.34', env);
  assert.equal(selectedVersion(env), '1.34');
  for (const name of Object.keys(env)) env[name] = 'old';
  assert.throws(() => selectedVersion(env), /must be one of 1\.34, .* \(got old\)/);
});

for (const version of kubernetesVersions) {
  test(`${version}: go.mod requires programs and libraries of one release`, () => {
    const { gitVersion, moduleFolder } = controlPlaneBuild(version);
    assert.ok(gitVersion.startsWith(`v${version}.`), gitVersion);
    const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
    const replaced = [...goMod.matchAll(/=> k8s\.io\/\S+ (\S+)/gu)].map(([, library]) => library);
    assert.ok(replaced.length > 20);
    assert.deepEqual([...new Set(replaced)], [gitVersion.replace('v1.', 'v0.')]);
  });
}

test('versions are built into different folders, from their own module', () => {
  const builds = kubernetesVersions.map((version) => controlPlaneBuild(version));
  assert.equal(new Set(builds.map(({ cacheFolder }) => cacheFolder)).size, builds.length);
  for (const build of builds) {
    const { args } = goBuildCommand(build, 'etcd');
    const own = `-modfile=${join(build.moduleFolder, 'go.mod')}`;
    assert.equal(args.includes(own), build.version !== defaultVersion);
    assert.ok(args.some((arg) => arg.includes(`gitVersion=${build.gitVersion}`)));
  }
});
