import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Guard } from '../../../../src/cli/simulation/programs/guard.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { runProgram } from '../../../upstream/suites/run-program.ts';

const root = join(import.meta.dirname, '../../../..');

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds() && tries < 1_500; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(holds(), what);
}

/** As ginkgo does with e2e.test: a process of its own, whose id is written to a file. */
const startsAnother = (pids: string, trap = ''): string =>
  `${trap} sh -c '${trap} echo $$ > ${pids}; while :; do sleep 0.1; done' & echo $$ >> ${pids}.own; wait`;

function pidsIn(file: string): readonly number[] {
  return [file, `${file}.own`].filter((each) => existsSync(each)).map((each) => Number(readFileSync(each, 'utf8')));
}

interface Run {
  readonly parent: ChildProcess;
  readonly folder: string;
  readonly pids: readonly number[];
  readonly output: () => string;
}

/** A process that runs the program as the command does. */
async function startRun(script: (pids: string) => string): Promise<Run> {
  const folder = tempFolder();
  const file = join(folder, 'pids');
  const source = `
    import { Guard } from '${root}/src/cli/simulation/programs/guard.ts';
    import { Interruption } from '${root}/test/upstream/interruption.ts';
    import { runProgram } from '${root}/test/upstream/suites/run-program.ts';
    const guard = new Guard('${folder}/work');
    const say = (line) => console.log(line);
    const interruption = new Interruption(say);
    const args = ['-c', process.argv[1]];
    const about = { name: 'tests', file: '/bin/sh', args, cwd: '${folder}', env: { PATH: process.env.PATH } };
    try {
      await runProgram({ ...about, logFile: '${folder}/log', guard, say, interrupted: interruption.signal });
    } catch (error) {
      say(error.message);
    } finally {
      await guard.dismiss();
      say('the cluster is removed');
    }
    process.exitCode = interruption.exitCode ?? 0;`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source, script(file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  parent.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  await until('both processes run', () => pidsIn(file).filter((pid) => pid > 0).length === 2);
  // The program may run before its parent goes on, which registers it first and then says so.
  await until('it is registered', () => output.startsWith('tests ...'));
  const pids = pidsIn(file);
  assert.ok(pids.every(isRunning));
  return { parent, folder, pids, output: () => output };
}

test('the processes of a program end when the process that runs it is killed', async () => {
  const { parent, pids } = await startRun(startsAnother);
  parent.kill('SIGKILL');
  await until('no process is left', () => !pids.some(isRunning));
});

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} ends the processes of a program, then the cluster, and says so`, async () => {
    const { parent, pids, output } = await startRun(startsAnother);
    parent.kill(signal);
    const [code] = await once(parent, 'exit');
    await until('no process is left', () => !pids.some(isRunning));
    assert.equal(code, exitCode);
    assert.deepEqual(output().trim().split('\n'), [
      'tests ...',
      `${signal}: ending the test programs and the cluster; a second signal ends them at once`,
      'tests: ended by SIGTERM',
      'interrupted: tests',
      'the cluster is removed',
    ]);
  });
}

test('a program that ignores SIGTERM is killed', async () => {
  const folder = tempFolder();
  const guard = new Guard(join(folder, 'work'));
  const interrupted = new AbortController();
  const file = join(folder, 'pids');
  const args = ['-c', startsAnother(file, 'trap "" TERM;')];
  const said: string[] = [];
  const about = { name: 'tests', file: '/bin/sh', args, cwd: folder, env: { PATH: process.env['PATH'] }, guard };
  const run = runProgram({
    ...about,
    logFile: join(folder, 'log'),
    say: (line) => said.push(line),
    interrupted: interrupted.signal,
    stopMsMax: 300,
  });
  await until('both processes run', () => pidsIn(file).filter((pid) => pid > 0).length === 2);
  interrupted.abort();
  await assert.rejects(run, /interrupted: tests/);
  await until('no process is left', () => !pidsIn(file).some(isRunning));
  assert.deepEqual(said, ['tests ...', 'tests: ended by SIGKILL']);
  await guard.dismiss();
});

test('processes that a program leaves behind end with it', async () => {
  const folder = tempFolder();
  const guard = new Guard(join(folder, 'work'));
  const file = join(folder, 'pids');
  const args = [
    '-c',
    `${startsAnother(file).replace('; wait', '')}; while ! [ -s ${file} ]; do sleep 0.02; done; exit 7`,
  ];
  const about = { name: 'tests', file: '/bin/sh', args, cwd: folder, env: { PATH: process.env['PATH'] }, guard };
  const { signal } = new AbortController();
  const code = await runProgram({ ...about, logFile: join(folder, 'log'), say: () => {}, interrupted: signal });
  assert.equal(code, 7);
  await until('no process is left', () => !pidsIn(file).some(isRunning));
  await guard.dismiss();
});
