// The build of the control plane and the search for its programs on machines without Go or with missing programs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Program, programs } from '../../tools/control-plane/programs.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'nlc-build-test-'));
const empty = join(folder, 'empty');
mkdirSync(empty);

after(() => rmSync(folder, { recursive: true }));

describe('the build of the control plane', () => {
  test('without Go it prints how to install it and exits with 3', () => {
    const { code, output } = run('tools/control-plane/build.ts', [], { XDG_CACHE_HOME: empty, PATH: empty });
    assert.equal(code, 3);
    assert.match(output, /no Go on the PATH[^]*https:\/\/go\.dev\/dl\/[^]*KUBEBUILDER_ASSETS/);
  });

  test('without Go and with --optional it prints the same and exits with 0', () => {
    const { code, output } = run('tools/control-plane/build.ts', ['--optional'], {
      XDG_CACHE_HOME: empty,
      PATH: empty,
    });
    assert.equal(code, 0);
    assert.match(output, /no Go on the PATH/);
  });

  test('programs in KUBEBUILDER_ASSETS are used without Go', () => {
    const given = folderWith('given', programs);
    const { code, output } = run('tools/control-plane/build.ts', [], {
      KUBEBUILDER_ASSETS: given,
      XDG_CACHE_HOME: empty,
      PATH: empty,
    });
    assert.deepEqual({ code, output }, { code: 0, output: `control plane: present in ${given}\n` });
  });

  test('missing programs in KUBEBUILDER_ASSETS are an error that names them, with --optional too', () => {
    const given = folderWith('half', ['etcd', 'kubectl']);
    const environment = { KUBEBUILDER_ASSETS: given, XDG_CACHE_HOME: empty };
    const { code, output } = run('tools/control-plane/build.ts', ['--optional'], environment);
    assert.equal(code, 2);
    assert.match(
      output,
      /KUBEBUILDER_ASSETS: kube-apiserver, kube-controller-manager, kube-scheduler, kubemark not found in /,
    );
  });

  test('an unknown Kubernetes version is an error that names the accepted ones, in the suite too', () => {
    const message = 'control plane: --kubernetes: must be one of 1.34, 1.35, 1.36, 1.37 (got 1.33)\n';
    for (const script of ['tools/control-plane/build.ts', 'test/control-plane/run-tests.ts'])
      assert.deepEqual(run(script, ['--kubernetes', '1.33'], {}), { code: 2, output: message });
  });

  test('another Kubernetes version is searched in its own folder, without kubemark', () => {
    const suite = 'test/control-plane/run-tests.ts';
    const { code, output } = run(suite, ['--kubernetes=1.34'], { XDG_CACHE_HOME: empty, PATH: empty });
    assert.equal(code, 0);
    assert.match(output, /SKIPPED, kubectl, .*, kube-scheduler not found in .*control-plane\/1\.34\/[0-9a-f]{16}: run/);
    assert.match(output, /run `npm run control-plane -- --kubernetes 1\.34`/);
  });

  test('the suite without Go and programs passes and prints that it was skipped', () => {
    const { code, output } = run('test/control-plane/run-tests.ts', [], { XDG_CACHE_HOME: empty, PATH: empty });
    assert.equal(code, 0);
    assert.match(output, /the tests are SKIPPED, .*kube-apiserver.* not found/);
  });
});

describe('the search for kubectl', () => {
  const onPath = folderWith('on-path', ['kubectl']);

  test('prefers KUBEBUILDER_ASSETS', () => {
    const given = folderWith('given-kubectl', ['kubectl']);
    assert.equal(kubectl({ KUBEBUILDER_ASSETS: given, XDG_CACHE_HOME: empty, PATH: onPath }), join(given, 'kubectl'));
  });

  test('falls back to the PATH', () => {
    assert.equal(kubectl({ XDG_CACHE_HOME: empty, PATH: `${empty}::${onPath}` }), join(onPath, 'kubectl'));
  });

  test('finds none if none is installed', () => {
    assert.equal(kubectl({ XDG_CACHE_HOME: empty, PATH: empty }), 'none');
  });

  function kubectl(environment: Record<string, string>): string {
    const module = JSON.stringify(join(root, 'tools/control-plane/binaries.ts'));
    const program = `import { findKubectl } from ${module}; console.log(findKubectl() ?? 'none');`;
    return runNode(['--input-type=module', '--eval', program], environment).output.trim();
  }
});

function folderWith(name: string, present: readonly Program[]): string {
  const made = join(folder, name);
  mkdirSync(made);
  for (const program of present) {
    writeFileSync(join(made, program), '#!/bin/sh\n');
    chmodSync(join(made, program), 0o755);
  }
  return made;
}

function run(script: string, args: readonly string[], environment: Record<string, string>): CodeAndOutput {
  return runNode([join(root, script), ...args], environment);
}

interface CodeAndOutput {
  readonly code: number | null;
  readonly output: string;
}

function runNode(args: readonly string[], environment: Record<string, string>): CodeAndOutput {
  const { status, stdout } = spawnSync(process.execPath, args, {
    env: { HOME: empty, ...environment },
    encoding: 'utf8',
  });
  return { code: status, output: stdout };
}
