// The build and the search for what it built, on machines that have little: no Go, no programs, half of the programs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Program, programs } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'nlc-build-test-'));
const empty = join(folder, 'empty');
mkdirSync(empty);

after(() => rmSync(folder, { recursive: true }));

describe('the build of the control plane', () => {
  test('without Go it says how to get it and ends with 3', () => {
    const { code, output } = run('build.ts', [], { XDG_CACHE_HOME: empty, PATH: empty });
    assert.equal(code, 3);
    assert.match(output, /no Go on the PATH[^]*https:\/\/go\.dev\/dl\/[^]*KUBEBUILDER_ASSETS/);
  });

  test('without Go, and optional, it says the same and ends with 0', () => {
    const { code, output } = run('build.ts', ['--optional'], { XDG_CACHE_HOME: empty, PATH: empty });
    assert.equal(code, 0);
    assert.match(output, /no Go on the PATH/);
  });

  test('programs that were given are used as they are, Go or not', () => {
    const given = folderWith('given', programs);
    const { code, output } = run('build.ts', [], { KUBEBUILDER_ASSETS: given, XDG_CACHE_HOME: empty, PATH: empty });
    assert.deepEqual({ code, output }, { code: 0, output: `control plane: present in ${given}\n` });
  });

  test('a given folder that lacks some is refused, and they are named, optional or not', () => {
    const given = folderWith('half', ['etcd', 'kubectl']);
    const environment = { KUBEBUILDER_ASSETS: given, XDG_CACHE_HOME: empty };
    const { code, output } = run('build.ts', ['--optional'], environment);
    assert.equal(code, 2);
    assert.match(output, /KUBEBUILDER_ASSETS: kube-apiserver, kube-controller-manager, kubemark not found in /);
  });

  test('the suite without Go and programs passes, and says that it was skipped', () => {
    const { code, output } = run('run-tests.ts', [], { XDG_CACHE_HOME: empty, PATH: empty });
    assert.equal(code, 0);
    assert.match(output, /the tests are SKIPPED, .*kube-apiserver.* not found/);
  });
});

describe('the search for kubectl', () => {
  const onPath = folderWith('on-path', ['kubectl']);

  test('takes the given one first', () => {
    const given = folderWith('given-kubectl', ['kubectl']);
    assert.equal(kubectl({ KUBEBUILDER_ASSETS: given, XDG_CACHE_HOME: empty, PATH: onPath }), join(given, 'kubectl'));
  });

  test('falls back on the PATH', () => {
    assert.equal(kubectl({ XDG_CACHE_HOME: empty, PATH: `${empty}::${onPath}` }), join(onPath, 'kubectl'));
  });

  test('finds none where there is none', () => {
    assert.equal(kubectl({ XDG_CACHE_HOME: empty, PATH: empty }), 'none');
  });

  function kubectl(environment: Record<string, string>): string {
    const module = JSON.stringify(join(import.meta.dirname, 'binaries.ts'));
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
  return runNode([join(import.meta.dirname, script), ...args], environment);
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
