// One running program of the control plane: its process, log and exit.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from '../../src/cli/simulation/programs/guard.ts';

const logTailLines = 30;
const freezeMsMax = 2_000;

interface ProgramStart {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  /** Working and home directory, so that no settings of the user are read. */
  readonly folder: string;
  readonly logFile: string;
  readonly guard: Guard;
}

/** A started program. Its output is appended to the log file, so that a restart keeps the output of the first run. */
export class ProgramRun {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #hasEnded = false;

  private constructor(start: ProgramStart, child: ChildProcess, pid: number) {
    this.name = start.name;
    this.logFile = start.logFile;
    this.pid = pid;
    this.#child = child;
    // The program does not keep the test process running; the guard kills it when the test ends.
    child.unref();
    start.guard.add(pid);
    this.ended = new Promise((resolve) => {
      child.once('exit', () => {
        this.#hasEnded = true;
        start.guard.drop(pid);
        resolve();
      });
    });
  }

  /** Rejects if the program cannot be started. */
  static async start(start: ProgramStart): Promise<ProgramRun> {
    const log = openSync(start.logFile, 'a');
    const child = spawn(start.binary, start.args, {
      cwd: start.folder,
      env: { HOME: start.folder, PATH: process.env['PATH'] },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    if (child.pid !== undefined) return new ProgramRun(start, child, child.pid);
    return new Promise((_resolve, reject) => child.once('error', reject));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Freezes the process (SIGSTOP), as if its machine hangs: sockets stay open without responses. Returns when all of its
   * threads have stopped: on a busy machine one of them could still answer a request.
   */
  freeze(): void {
    this.#child.kill('SIGSTOP');
    const untilMs = performance.now() + freezeMsMax;
    while (!threadStates(this.pid).every((state) => state === 'T') && performance.now() < untilMs);
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Sends SIGTERM and waits for its exit. */
  async terminate(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.ref();
    this.#child.kill('SIGTERM');
    await this.ended;
  }

  /** Sends SIGKILL, which also ends a frozen process, and waits for its exit. */
  async kill(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** Exit state and the last lines of its log, for error messages. */
  tail(): string {
    const lines = readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-logTailLines);
    const code = this.#child.exitCode ?? this.#child.signalCode;
    const state = code === null ? 'is running' : `ended with ${code}`;
    return [`${this.name} ${state}; the end of its log:`, ...lines].join('\n  ');
  }
}

/** The state of each thread of a process, as in `/proc`; none if it has ended. */
function threadStates(pid: number): readonly string[] {
  try {
    const tasks = `/proc/${pid}/task`;
    return readdirSync(tasks).map(
      (task) =>
        readFileSync(join(tasks, task, 'stat'), 'utf8')
          .split(') ')
          .at(-1)?.[0] ?? '',
    );
  } catch {
    return [];
  }
}
