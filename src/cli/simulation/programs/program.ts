// A program that this process runs beside itself, with its output in a file.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Guard } from './guard.ts';

const logTailLines = 5;
/** After SIGTERM; then SIGKILL. */
const stopMsMax = 5_000;

interface ProgramOptions {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Working and home directory, so that no settings of the user are read. */
  readonly folder: string;
  readonly logFile: string;
  /** Kills it if this process ends without {@link Program.stop}. */
  readonly guard: Guard;
  readonly clock: Clock;
}

export class Program {
  readonly file: string;
  readonly pid: number;
  readonly #options: ProgramOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #hasEnded = false;

  private constructor(options: ProgramOptions, child: ChildProcess, pid: number) {
    this.#options = options;
    this.#child = child;
    this.file = options.file;
    this.pid = pid;
    options.guard.add(pid);
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        this.#hasEnded = true;
        options.guard.drop(pid);
        resolve();
      });
    });
  }

  /** Rejects if it cannot be started. */
  static async start(options: ProgramOptions): Promise<Program> {
    const { file, args, folder: cwd, logFile } = options;
    const log = openSync(logFile, 'a');
    const env = { HOME: cwd, PATH: process.env['PATH'] };
    // In a group of its own: Ctrl-C reaches this process alone, which stops the programs in order.
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    if (child.pid !== undefined) return new Program(options, child, child.pid);
    return new Promise((_resolve, reject) => child.once('error', reject));
  }

  /** If it has ended by itself: how, and the last lines of its log. */
  failure(): string | undefined {
    if (!this.#hasEnded) return undefined;
    const { name, logFile } = this.#options;
    const how = this.#child.exitCode ?? this.#child.signalCode ?? 'unknown';
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-logTailLines);
    return [`${name} ended with ${how}; the end of its log:`, ...lines].join('\n  ');
  }

  /** Freezes it, or lets it go on. */
  send(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.#hasEnded) this.#child.kill(signal);
  }

  /** SIGTERM, and SIGKILL if that does not end it within five seconds. Idempotent. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill('SIGTERM');
    const ended = new AbortController();
    const deadline = this.#options.clock.sleep(stopMsMax, ended.signal).then(() => {
      if (!this.#hasEnded) this.#child.kill('SIGKILL');
    });
    await this.#ended;
    ended.abort();
    await deadline;
  }
}
