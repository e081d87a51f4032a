import { type CommandIo, exitUsageError } from '../io/command-io.ts';
import { commandList, findCommand } from './command-list.ts';
import { nearestName } from '../flags/suggestions.ts';

const helpWords: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Runs the command named by the first argument and returns its exit code. Without arguments, or with a help flag, prints help. */
export async function dispatch(argv: readonly string[], io: CommandIo): Promise<number> {
  const [word = 'help', ...rest] = argv;
  if (helpWords.has(word)) return help(rest, io);
  const entry = findCommand(word === '--version' ? 'version' : word);
  if (entry === undefined) return unknownCommand(word, io);
  if (rest.includes('--help') || rest.includes('-h')) return help([entry.name], io);
  return (await entry.load()).run(rest, io);
}

async function help(argv: readonly string[], io: CommandIo): Promise<number> {
  return (await import('./help.ts')).run(argv, io);
}

function unknownCommand(word: string, io: CommandIo): number {
  const names = [...commandList.map((entry) => entry.name), 'help'];
  const near = nearestName(word, names);
  const hint = near === undefined ? '' : `did you mean ${near}? `;
  io.stderr(`nlc: unknown command ${JSON.stringify(word)}; ${hint}available commands: ${names.join(', ')}\n`);
  return exitUsageError;
}
