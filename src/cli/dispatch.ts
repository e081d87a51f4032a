import { type CommandIo, exitRefused } from './command-io.ts';
import { commandList, findCommand } from './command-list.ts';
import { nearestName } from './near-miss.ts';

const helpWords: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Runs the command that the first word names and returns the exit code. Without a word, or when asked to, explains. */
export async function dispatch(argv: readonly string[], io: CommandIo): Promise<number> {
  const [word = 'help', ...rest] = argv;
  if (helpWords.has(word)) return help(rest, io);
  const entry = findCommand(word === '--version' ? 'version' : word);
  if (entry === undefined) return refuseCommand(word, io);
  if (rest.includes('--help') || rest.includes('-h')) return help([entry.name], io);
  return (await entry.load()).run(rest, io);
}

async function help(argv: readonly string[], io: CommandIo): Promise<number> {
  return (await import('./commands/help.ts')).run(argv, io);
}

function refuseCommand(word: string, io: CommandIo): number {
  const names = [...commandList.map((entry) => entry.name), 'help'];
  const near = nearestName(word, names);
  const hint = near === undefined ? '' : `did you mean ${near}? `;
  io.stderr(`nlc: unknown command ${JSON.stringify(word)}; ${hint}there are: ${names.join(', ')}\n`);
  return exitRefused;
}
