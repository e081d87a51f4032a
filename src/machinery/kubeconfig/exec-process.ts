import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from '../ports/clock.ts';
import { codeOf } from '../kube-client/errors.ts';

/** Time between SIGTERM and SIGKILL. */
export const killDelayMs = 2_000;

interface ProcessSpec {
  /** Looked up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ProcessLimits {
  readonly clock: Clock;
  readonly msMax: number;
  readonly outputBytesMax: number;
}

type Child = ChildProcessByStdio<null, Readable, null>;

type ProcessResult =
  | { readonly end: 'closed'; readonly output: string }
  | { readonly end: 'failed' | 'overdue'; readonly problem: string };

/**
 * Runs a command and returns its standard output after it exits with 0. It runs in its own process group without standard
 * input; if it fails, or exceeds a limit, the whole group gets SIGTERM and after {@link killDelayMs} SIGKILL, and is no
 * longer awaited. It does not outlive this process. Rejects with an error that names only the command: arguments,
 * environment and output may be secrets, and standard error, which may repeat them, is discarded.
 */
export async function runProcess(spec: ProcessSpec, limits: ProcessLimits): Promise<string> {
  const child = start(spec);
  const kill = (): void => signalGroup(child, 'SIGKILL');
  process.once('exit', kill);
  try {
    const outcome = await outcomeOf(child, limits);
    if (outcome.end === 'closed') return outcome.output;
    await endGroup(child, limits.clock);
    throw failure(spec, outcome.problem);
  } finally {
    process.removeListener('exit', kill);
  }
}

function start({ command, args, env }: ProcessSpec): Child {
  try {
    const child = spawn(command, [...args], { env: { ...env }, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    // `close` reports both errors; an `error` event without a listener would crash this process.
    child.on('error', ignoreError);
    child.stdout.on('error', ignoreError);
    return child;
  } catch (error) {
    throw failure({ command }, `cannot be started (${codeOf(error) ?? 'unknown reason'})`);
  }
}

async function outcomeOf(child: Child, { clock, msMax, outputBytesMax }: ProcessLimits): Promise<ProcessResult> {
  const over = new AbortController();
  const overdue = clock.sleep(msMax, over.signal).then((): ProcessResult => {
    return { end: 'overdue', problem: `did not finish within ${msMax} ms` };
  });
  try {
    return await Promise.race([endOf(child, outputBytesMax), overdue]);
  } finally {
    over.abort();
  }
}

function endOf(child: Child, outputBytesMax: number): Promise<ProcessResult> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const fail = (problem: string): void => resolve({ end: 'failed', problem });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > outputBytesMax) fail(`wrote more than ${outputBytesMax} bytes`);
      else chunks.push(chunk);
    });
    child.once('error', (error) => fail(`cannot be started (${codeOf(error) ?? 'unknown reason'})`));
    // A descendant may keep the output open: after a failure `close` is not awaited.
    child.once('exit', (code, signal) => {
      if (code !== 0) fail(signal === null ? `failed with exit code ${code}` : `was terminated by ${signal}`);
    });
    child.once('close', () => resolve({ end: 'closed', output: Buffer.concat(chunks).toString('utf8') }));
  });
}

/** Resolves after SIGKILL was sent to the group: at once if its first process has exited and its output is closed. */
async function endGroup(child: Child, clock: Clock): Promise<void> {
  if (child.pid === undefined) return;
  const over = new AbortController();
  const closed = new Promise<void>((resolve) => child.once('close', resolve));
  signalGroup(child, 'SIGTERM');
  if (!isClosed(child)) await Promise.race([closed, clock.sleep(killDelayMs, over.signal)]);
  over.abort();
  signalGroup(child, 'SIGKILL');
  child.stdout.destroy();
  child.unref();
}

function isClosed(child: Child): boolean {
  return (child.exitCode !== null || child.signalCode !== null) && child.stdout.closed;
}

function signalGroup({ pid }: Child, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: no process of the group is left.
  }
}

/** Without a cause: Node.js errors about a command contain its arguments. */
function failure({ command }: Pick<ProcessSpec, 'command'>, problem: string): Error {
  return new Error(`command "${command}" ${problem}`);
}

function ignoreError(): void {
  // Reported by `close`.
}
