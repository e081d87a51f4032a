// Sees to it that nothing outlives the test that started it, however that test ends: a small shell holds the other end
// of a pipe, and when the pipe breaks (the test was killed, crashed, or simply forgot) it kills what is still registered
// and removes the folder. It leads a process group of its own, so that Ctrl-C reaches the test and not the guard.
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
for pid in $pids; do kill -KILL "$pid"; done
rm -rf "$folder"
`;

/** Watches over one folder and the processes that work in it. */
export class Guard {
  readonly #shell: ChildProcess;

  constructor(folder: string) {
    this.#shell = spawn('/bin/sh', ['-c', script, 'guard', folder], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#shell.unref();
    // Alone it must not keep the test running.
    if (this.#shell.stdin instanceof Socket) this.#shell.stdin.unref();
  }

  /** The shell's process id. */
  get pid(): number {
    return this.#shell.pid!;
  }

  add(pid: number): void {
    this.#tell(`add ${pid}\n`);
  }

  /** Forgets a process that has ended: its id may soon be somebody else's. */
  drop(pid: number): void {
    this.#tell(`drop ${pid}\n`);
  }

  /** Kills what is still registered, removes the folder, and resolves when the guard itself is gone. */
  dismiss(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#shell.ref();
      this.#shell.once('exit', () => resolve());
      this.#shell.stdin!.end();
    });
  }

  #tell(line: string): void {
    this.#shell.stdin!.write(line);
  }
}
