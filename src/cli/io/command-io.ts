import { escapeLine } from '../../machinery/api/format-safe-text.ts';

/** The parts of the process that a command may use. */
export interface CommandIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Standard output is a terminal, where a line can be overwritten. */
  readonly isTerminal?: boolean;
  /** Undefined unless standard input and output are both a terminal. */
  readonly openTerminal?: () => Terminal | undefined;
  /** Name of the program as users type it, for messages; absent: `nlc`. */
  readonly program?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGTERM or SIGINT: shut down gracefully and return. The second one ends the process at once. */
  readonly signal: AbortSignal;
}

/** A terminal, for commands that draw the whole screen. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  /** Delivers keys as they are pressed, without echo, until the returned function is called. */
  readKeys(listener: (keys: string) => void): () => void;
  /** Calls back when the size changes, until the returned function is called. */
  onResize(listener: () => void): () => void;
  /** Calls back when the process ends for any reason, until the returned function is called. Synchronous work only. */
  onExit(listener: () => void): () => void;
}

/** The interface of each file in `commands/`. Imported only when its command runs. */
export interface CommandModule {
  /** Returns the exit code: 0 success, 1 failure, 2 usage error. */
  run(argv: readonly string[], io: CommandIo): Promise<number>;
}

export const exitSuccess = 0;
export const exitFailure = 1;
export const exitUsageError = 2;

function programOf({ program = 'nlc' }: Pick<CommandIo, 'program'>): string {
  return program;
}

/** Prints one line about a command. What it names may come from a file or a server: it is escaped. */
export function printNote(io: Pick<CommandIo, 'stderr' | 'program'>, command: string, note: string): void {
  io.stderr(`${programOf(io)} ${command}: ${escapeLine(note)}\n`);
}

/** Prints all problems and a pointer to the help, and returns the exit code of a usage error. */
export function usageError(io: CommandIo, command: string, problems: readonly string[], what = 'flags'): number {
  const count = problems.length === 1 ? '1 error' : `${problems.length} errors`;
  const lines = problems.map((problem) => `  ${escapeLine(problem)}\n`).join('');
  const name = `${programOf(io)} ${command}`;
  io.stderr(`${name}: invalid ${what} (${count})\n${lines}See: ${name} --help\n`);
  return exitUsageError;
}
