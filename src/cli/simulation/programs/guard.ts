// Kills programs that this process started at its end, even if it is killed or crashes: a small shell reads from a pipe,
// and when the pipe is closed it kills the registered processes and removes their folder. The shell runs in its own process
// group, so that Ctrl-C does not reach it.
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

const script = `
folder=$1
pids=' '
while read -r word pid; do
  case $word in
    add) pids="$pids$pid " ;;
    drop) pids=$(printf '%s' "$pids" | sed "s/ $pid / /") ;;
  esac
done
for pid in $pids; do kill -s KILL -- "$pid"; done
# Another guard may still be killing what writes there.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
`;

/** Removes one folder and kills the processes that work in it. */
export class Guard {
  readonly #shell: ChildProcess;

  constructor(folder: string) {
    this.#shell = spawn('/bin/sh', ['-c', script, 'guard', folder], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#shell.unref();
    // Without its guard a run goes on: only a crash of this process would leave programs behind.
    this.#shell.on('error', () => undefined);
    this.#shell.stdin?.on('error', () => undefined);
    // The pipe alone must not keep this process running.
    if (this.#shell.stdin instanceof Socket) this.#shell.stdin.unref();
  }

  /** The shell's process id. */
  get pid(): number {
    return this.#shell.pid ?? -1;
  }

  /** A negative id registers all processes of the group that this process leads. */
  add(pid: number): void {
    this.#send(`add ${pid}\n`);
  }

  /** Unregisters a process that has ended, because its id may be reused. */
  drop(pid: number): void {
    this.#send(`drop ${pid}\n`);
  }

  /** Kills the registered processes, removes the folder, and resolves when the guard has exited. */
  dismiss(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#shell.ref();
      this.#shell.once('exit', () => resolve());
      this.#shell.stdin?.end();
    });
  }

  #send(line: string): void {
    this.#shell.stdin?.write(line);
  }
}
