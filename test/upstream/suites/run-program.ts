// Runs a program to its end, with its output in a file and progress lines meanwhile.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Guard } from '../../../src/cli/programs/guard.ts';

const stillRunningMs = 60_000;

interface ProgramOptions {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  /** Kills it if this process ends first. */
  readonly guard: Guard;
  readonly say: (line: string) => void;
}

/** Resolves with the exit code, or the signal that ended it. Rejects if the program cannot be started. */
export async function runProgram(options: ProgramOptions): Promise<number | string> {
  const { name, file, args, cwd, env, logFile, guard, say } = options;
  const log = openSync(logFile, 'w');
  const startedMs = performance.now();
  const child = spawn(file, args, { cwd, env: { ...env }, stdio: ['ignore', log, log] });
  closeSync(log);
  const minutes = (): string => `${Math.round((performance.now() - startedMs) / 60_000)} min`;
  say(`${name} ...`);
  const alive = setInterval(() => say(`${name}: still running, ${minutes()}`), stillRunningMs);
  try {
    return await new Promise<number | string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
      if (child.pid !== undefined) guard.add(child.pid);
    });
  } finally {
    clearInterval(alive);
    if (child.pid !== undefined) guard.drop(child.pid);
  }
}
