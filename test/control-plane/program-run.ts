// One program of the control plane while it runs: its process, its log, its end.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Guard } from './guard.ts';

const logTailLines = 30;

export interface ProgramStart {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  /** Working and home folder: nothing of the person's own settings leaks in, nothing is left behind. */
  readonly folder: string;
  readonly logFile: string;
  readonly guard: Guard;
}

/** A started program. Its output goes to the end of the log file, so that a restart keeps the first run's words. */
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
    // A test that forgets to stop it ends all the same, and then the guard does its work.
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

  /** Rejects when the program cannot be started at all. */
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

  /** Stops the process where it stands, as a machine that hangs does: sockets stay open, nothing answers. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Asks it to end (SIGTERM), and waits until it is gone. */
  async terminate(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.ref();
    this.#child.kill('SIGTERM');
    await this.ended;
  }

  /** Ends it at once, also when frozen, and waits until it is gone. */
  async kill(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** How it ended and the last lines it wrote, for a person who must find out why it did not start. */
  tail(): string {
    const lines = readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-logTailLines);
    const code = this.#child.exitCode ?? this.#child.signalCode;
    const state = code === null ? 'is running' : `ended with ${code}`;
    return [`${this.name} ${state}; the end of its log:`, ...lines].join('\n  ');
  }
}
