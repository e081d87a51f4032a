// Shell completion as shells use it: the generated scripts, run by the shells that this machine has.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { FakeCluster } from '../../support/fake-cluster.ts';
import { nlc } from '../../support/run-command.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const main = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');
let cluster: FakeCluster;

before(async () => {
  cluster = await FakeCluster.start();
  cluster.nodes.push('worker-1', 'worker-2', 'control-1');
});

after(() => cluster[Symbol.asyncDispose]());

async function completed(...words: readonly string[]): Promise<readonly string[]> {
  const { code, out, err } = await nlc('__complete', ...words);
  assert.deepEqual([code, err], [0, '']);
  return out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
}

test('commands, flags and values come from the tables', async () => {
  const commands = await completed('');
  for (const name of ['controller', 'explain', 'kubectl', 'completion', 'help'])
    assert.ok(commands.includes(name), name);
  assert.equal(commands.at(-1), ':4');
  assert.deepEqual(await completed('stat'), ['status', ':4']);
  assert.deepEqual(await completed('status', '--out'), ['--output', ':4']);
  assert.deepEqual(await completed('status', '--output', ''), ['text', 'wide', 'json', 'yaml', ':4']);
  assert.deepEqual(await completed('status', '--output=y'), ['yaml', ':4']);
  assert.deepEqual(await completed('kubectl', 'ex'), ['explain', ':4']);
  assert.deepEqual(await completed('kubectl', 'top', '--sort', 'na'), ['name', ':4']);
  assert.deepEqual(await completed('completion', ''), ['bash', 'zsh', 'fish', ':4']);
  assert.deepEqual(await completed('help', 'vers'), ['version', ':4']);
  assert.deepEqual(await completed('validate', ''), [':0'], 'a file');
  assert.deepEqual(await completed('no-such-command', ''), [':4']);
});

test('names of nodes come from the cluster of the kubeconfig on the command line', async () => {
  const flag = `--kubeconfig=${cluster.kubeconfig()}`;
  assert.deepEqual(await completed('explain', ''), ['node/', 'pod/', ':6']);
  assert.deepEqual(await completed('kubectl', 'explain', flag, 'node/wor'), ['node/worker-1', 'node/worker-2', ':4']);
  assert.deepEqual(await completed('explain', flag, 'node/worker-1', ''), [':4'], 'one argument only');
});

test('an API server that does not answer, or no kubeconfig, is silent within the time limit', async () => {
  assert.deepEqual(await completed('explain', '--kubeconfig=/does/not/exist', 'node/'), [':4']);
  let release = (): void => undefined;
  cluster.held = new Promise<void>((resolve) => (release = resolve));
  const startedMs = performance.now();
  assert.deepEqual(await completed('explain', `--kubeconfig=${cluster.kubeconfig()}`, 'node/'), [':4']);
  assert.ok(performance.now() - startedMs < 4_000);
  cluster.held = Promise.resolve();
  release();
});

/** A folder for the PATH with `nlc`, run from source. */
function binFolder(): string {
  const folder = tempFolder();
  const script = `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`;
  writeFileSync(join(folder, 'nlc'), script);
  chmodSync(join(folder, 'nlc'), 0o755);
  return folder;
}

function hasShell(t: TestContext, shell: string): boolean {
  const found = spawnSync(shell, ['-c', 'exit 0']).status === 0;
  if (!found) t.skip(`no ${shell}`);
  return found;
}

/** What bash offers for this line, as its `complete` would. */
function bashReply(line: string, wordBreaks = ' \t\n"\'><=;|&(:'): readonly string[] {
  const program = `
    source <(nlc completion bash)
    COMP_WORDBREAKS=$'${wordBreaks.replaceAll("'", "\\'").replaceAll('\t', '\\t').replaceAll('\n', '\\n')}'
    COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=($COMP_LINE); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _nlc_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-c', program], {
    encoding: 'utf8',
    env: { HOME: tempFolder(), PATH: [binFolder(), dirname(process.execPath), process.env['PATH']].join(delimiter) },
  });
  assert.deepEqual([status, stderr], [0, '']);
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes commands, flags, values after a space and after =, and names with a slash', (t) => {
  if (!hasShell(t, 'bash')) return;
  assert.deepEqual(bashReply('nlc stat'), ['status']);
  assert.deepEqual(bashReply('nlc status --outp'), ['--output']);
  assert.deepEqual(bashReply('nlc status --output '), ['text', 'wide', 'json', 'yaml']);
  assert.deepEqual(bashReply('nlc status --output=y'), ['yaml'], 'bash replaces the part after =');
  assert.deepEqual(bashReply('nlc status --output=y', ' \t\n'), ['--output=yaml'], 'bash replaces the whole word');
  assert.deepEqual(bashReply(`nlc explain --kubeconfig=${cluster.kubeconfig()} no`), ['node/']);
});

test('zsh reads the script without an error', (t) => {
  if (!hasShell(t, 'zsh')) return;
  const { status, stderr } = spawnSync('zsh', ['-f', '-n'], { input: scriptOf('zsh'), encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});

test('fish reads the script without an error', (t) => {
  if (!hasShell(t, 'fish')) return;
  const { status, stderr } = spawnSync('fish', ['--no-execute'], { input: scriptOf('fish'), encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});

function scriptOf(shell: string): string {
  return spawnSync(process.execPath, [main, 'completion', shell], { encoding: 'utf8' }).stdout;
}

test('an unknown shell is an error with the accepted ones', async () => {
  const refused = await nlc('completion', 'csh');
  assert.equal(refused.code, 2);
  assert.match(refused.err, /SHELL: must be one of bash, zsh, fish \(got "csh"\)/);
});

test('the program completes for kubectl under the name that kubectl looks for', () => {
  const folder = tempFolder();
  const name = join(folder, 'kubectl_complete-node_lifecycle');
  symlinkSync(main, name);
  const run = (...words: readonly string[]): string =>
    spawnSync(process.execPath, [name, ...words], { encoding: 'utf8' }).stdout;
  assert.match(run('sta'), /^status\t.*\n:4\n$/);
  assert.match(run('explain', ''), /^node\/\npod\/\n:6\n$/);
});
