import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { killDelayMs, runProcess } from '../../../../src/machinery/kubeconfig/exec-process.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { until } from '../../../support/until.ts';

const msMax = 60_000;
const outputBytesMax = 64 * 1024;
const timeout = 30_000;

describe('running a process for its output', () => {
  let folder: string;
  let clock: ManualClock;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nlc-exec-process-'));
    clock = new ManualClock();
  });
  afterEach(() => {
    for (const name of ['leader', 'child']) if (isRunning(name)) process.kill(pidOf(name), 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Runs a shell script with the directory as its first argument. */
  const run = (script: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
    const spec = { command: 'sh', args: ['-c', script, 'plugin', folder], env: { ...process.env, ...env } };
    return runProcess(spec, { clock, msMax, outputBytesMax });
  };
  const pidOf = (name: string): number => {
    const file = join(folder, name);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  };
  /** A zombie process counts as ended. */
  const isRunning = (name: string): boolean => {
    const pid = pidOf(name);
    return pid > 0 && existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  };
  const noListenerLeft = (listeners: number): void => {
    assert.equal(process.listenerCount('exit'), listeners);
    assert.equal(clock.sleeping, 0, 'no timer is left');
  };

  test('returns the complete output, including multi-byte characters', { timeout }, async () => {
    const listeners = process.listenerCount('exit');
    assert.equal(await run('printf "%s" "é"; cat >/dev/null; printf ü'), 'éü');
    noListenerLeft(listeners);
  });

  const hang = 'echo $$ >"$1/leader"; sleep 1000 & echo $! >"$1/child"; wait';

  test('sends SIGTERM to the process and its children at the timeout', { timeout }, async () => {
    const listeners = process.listenerCount('exit');
    const failing = failureOf(run(hang), Error);
    await until(() => pidOf('child') > 0);
    await clock.advance(msMax - 1);
    assert.deepEqual([isRunning('leader'), isRunning('child')], [true, true]);
    await clock.advance(1);
    assert.equal((await failing).message, 'command "sh" did not finish within 60000 ms');
    await until(() => !isRunning('leader') && !isRunning('child'));
    noListenerLeft(listeners);
  });

  test('sends SIGKILL 2 s later to processes that ignore SIGTERM, and does not wait any longer', {
    timeout,
  }, async () => {
    const failing = failureOf(run(`trap "" TERM; ${hang}`), Error);
    await until(() => pidOf('child') > 0);
    await clock.advance(msMax);
    await clock.advance(killDelayMs - 1);
    assert.deepEqual([isRunning('leader'), isRunning('child')], [true, true]);
    await clock.advance(1);
    await failing;
    await until(() => !isRunning('leader') && !isRunning('child'));
    assert.equal(clock.sleeping, 0);
  });

  test('after a failure children that keep the output open are terminated and not awaited', { timeout }, async () => {
    const failing = failureOf(run('sleep 1000 & echo $! >"$1/child"; exit 3'), Error);
    assert.equal((await failing).message, 'command "sh" failed with exit code 3');
    await until(() => !isRunning('child'));
    assert.equal(clock.sleeping, 0);
  });

  test('reports the signal that terminated the process', { timeout }, async () => {
    assert.equal((await failureOf(run('kill -9 $$'), Error)).message, 'command "sh" was terminated by SIGKILL');
  });

  test('terminates a process whose output exceeds the limit', { timeout }, async () => {
    const failing = failureOf(run('echo $$ >"$1/leader"; exec cat /dev/zero'), Error);
    assert.equal((await failing).message, `command "sh" wrote more than ${outputBytesMax} bytes`);
    await until(() => !isRunning('leader'));
    assert.equal(clock.sleeping, 0);
  });

  test('discards unlimited output on standard error', { timeout }, async () => {
    assert.equal(await run('head -c 10000000 /dev/zero >&2; echo done'), 'done\n');
  });

  test('reports a missing command', { timeout }, async () => {
    const limits = { clock, msMax, outputBytesMax };
    const missing = runProcess({ command: join(folder, 'none'), args: ['secret'], env: {} }, limits);
    assert.match((await failureOf(missing, Error)).message, /none" cannot be started \(ENOENT\)$/);
    const denied = join(folder, 'denied');
    writeFileSync(denied, '#!/bin/sh\n', { mode: 0o644 });
    const failing = runProcess({ command: denied, args: [], env: {} }, limits);
    assert.match((await failureOf(failing, Error)).message, /denied" cannot be started \(EACCES\)$/);
    assert.equal(clock.sleeping, 0);
  });

  test('no failure repeats an argument, the environment, the output or standard error', { timeout }, async () => {
    const limits = { clock, msMax, outputBytesMax };
    const env = { ...process.env, PASSWORD: 'hunter2' };
    for (const [command, ...args] of [
      ['sh', '-c', 'echo "$PASSWORD $0"; echo "$PASSWORD $0" >&2; exit 1', 'hunter2'],
      ['sh', '-c', 'kill -9 $$', 'hunter2'],
      [join(folder, 'none'), 'hunter2'],
      ['sh', 'hunter2\0'],
      ['sh', '-c', 'yes hunter2', 'hunter2'],
    ] as const) {
      const error = await failureOf(runProcess({ command, args, env }, limits), Error);
      assert.doesNotMatch(inspect(error, { depth: null, showHidden: true }), /hunter2/);
    }
  });

  test('the command does not outlive this process', { timeout }, async () => {
    const script = `
      import { runProcess } from '${join(import.meta.dirname, '../../../../src/machinery/kubeconfig/exec-process.ts')}';
      import { SystemClock } from '${join(import.meta.dirname, '../../../../src/machinery/adapters/system-clock.ts')}';
      const spec = { command: 'sh', args: ['-c', ${JSON.stringify(hang)}, 'plugin', '${folder}'], env: process.env };
      void runProcess(spec, { clock: new SystemClock(), msMax: 60_000, outputBytesMax: 1 });
      process.stdin.once('data', () => process.exit(0));`;
    const runner = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    await until(() => pidOf('child') > 0);
    runner.stdin.end('x');
    await until(() => !isRunning('leader') && !isRunning('child'));
  });
});
