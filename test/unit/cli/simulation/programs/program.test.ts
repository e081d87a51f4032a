import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { SystemClock } from '../../../../../src/machinery/adapters/system-clock.ts';
import { Guard } from '../../../../../src/cli/simulation/programs/guard.ts';
import { Program } from '../../../../../src/cli/simulation/programs/program.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

const clock = new SystemClock();
const sources = join(import.meta.dirname, '../../../../../src');

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  for (let tries = 0; isRunning(pid) && tries < 200; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isRunning(pid), false);
}

async function start(script: string): Promise<{ readonly program: Program; readonly guard: Guard }> {
  const folder = tempFolder();
  const guard = new Guard(join(folder, 'work'));
  const about = { name: 'shell', file: '/bin/sh', args: ['-c', script], folder, logFile: join(folder, 'log') };
  return { program: await Program.start({ ...about, guard, clock }), guard };
}

test('a program is stopped by its process id', async () => {
  const { program, guard } = await start('exec sleep 60');
  assert.ok(isRunning(program.pid));
  assert.equal(program.failure(), undefined);
  await program.stop();
  await untilGone(program.pid);
  await guard.dismiss();
});

test('a program that ended by itself reports how, with the end of its log', async () => {
  const { program, guard } = await start('echo first; echo cannot listen >&2; exit 3');
  while (program.failure() === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(program.failure(), 'shell ended with 3; the end of its log:\n  first\n  cannot listen');
  await program.stop();
  await guard.dismiss();
});

test('a missing program rejects', async () => {
  const folder = tempFolder();
  const guard = new Guard(join(folder, 'work'));
  const about = { name: 'none', file: join(folder, 'none'), args: [], folder, logFile: join(folder, 'log') };
  await assert.rejects(Program.start({ ...about, guard, clock }), /ENOENT/);
  await guard.dismiss();
});

test('programs end with the process that started them, even if it is killed', async () => {
  const folder = tempFolder();
  const script = `
    import { Guard } from ${JSON.stringify(join(sources, 'cli/simulation/programs/guard.ts'))};
    import { Program } from ${JSON.stringify(join(sources, 'cli/simulation/programs/program.ts'))};
    const folder = ${JSON.stringify(folder)};
    const guard = new Guard(folder + '/work');
    const about = { name: 's', file: '/bin/sh', args: ['-c', 'exec sleep 60'], folder, logFile: folder + '/log' };
    const program = await Program.start({ ...about, guard, clock: {} });
    console.log(program.pid);
    setInterval(() => {}, 1_000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  assert.ok(isRunning(pid));
  parent.kill('SIGKILL');
  await untilGone(pid);
});
