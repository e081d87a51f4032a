// Runs a program to its end, with its output in a file and progress lines meanwhile.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Guard } from '../../../src/cli/simulation/programs/guard.ts';
import { Interrupted } from '../interruption.ts';

const stillRunningMs = 60_000;
/** From SIGTERM to SIGKILL. */
const stopMsDefault = 10_000;

interface ProgramOptions {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  /** Kills it, with the processes that it started, if this process ends first. */
  readonly guard: Guard;
  readonly say: (line: string) => void;
  /** Ends it when it aborts. */
  readonly interrupted: AbortSignal;
  readonly stopMsMax?: number;
}

/**
 * Resolves with the exit code, or the signal that ended it. Rejects if the program cannot be started, and with Interrupted. The
 * program and the processes that it starts are a process group: none of them is left afterwards.
 */
export async function runProgram(options: ProgramOptions): Promise<number | string> {
  const { name, file, args, cwd, env, logFile, guard, say, interrupted } = options;
  if (interrupted.aborted) throw new Interrupted(name);
  const log = openSync(logFile, 'w');
  const startedMs = performance.now();
  const child = spawn(file, args, { cwd, env: { ...env }, stdio: ['ignore', log, log], detached: true });
  // At once: until then nothing ends it with this process.
  if (child.pid !== undefined) guard.add(-child.pid);
  closeSync(log);
  const minutes = (): string => `${Math.round((performance.now() - startedMs) / 60_000)} min`;
  say(`${name} ...`);
  const alive = setInterval(() => say(`${name}: still running, ${minutes()}`), stillRunningMs);
  try {
    const end = await endOf(child, options);
    if (!interrupted.aborted) return end;
    say(`${name}: ended by ${end}`);
    throw new Interrupted(name);
  } finally {
    clearInterval(alive);
  }
}

/** The end of the whole group. */
async function endOf(child: ChildProcess, { guard, interrupted, stopMsMax }: ProgramOptions): Promise<number | string> {
  const { pid } = child;
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  if (pid === undefined) return ended;
  let kill: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(pid, 'SIGTERM');
    kill = setTimeout(() => signalGroup(pid, 'SIGKILL'), stopMsMax ?? stopMsDefault);
  };
  interrupted.addEventListener('abort', stop);
  try {
    return await ended;
  } finally {
    clearTimeout(kill);
    interrupted.removeEventListener('abort', stop);
    signalGroup(pid, 'SIGKILL');
    guard.drop(-pid);
  }
}

/** Does nothing if no process of the group is left. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
