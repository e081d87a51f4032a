/** Everything a command may touch of the process it runs in. */
export interface CommandIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Standard output is a terminal, where a line can be written over. */
  readonly isTerminal?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGTERM or SIGINT: finish, hand over, return. The second ends the process at once. */
  readonly signal: AbortSignal;
}

/** What each file in `commands/` exports. Imported only when its command is asked for. */
export interface CommandModule {
  /** Returns the exit code: 0 done, 1 failed, 2 refused because of how it was called. */
  run(argv: readonly string[], io: CommandIo): Promise<number>;
}

export const exitDone = 0;
export const exitFailed = 1;
export const exitRefused = 2;

/** Prints every problem at once, says where help is, and answers the exit code for it. */
export function refuse(io: CommandIo, command: string, problems: readonly string[]): number {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  const lines = problems.map((problem) => `  ${problem}\n`).join('');
  io.stderr(`nlc ${command}: ${count} with how it was called\n${lines}See: nlc ${command} --help\n`);
  return exitRefused;
}
