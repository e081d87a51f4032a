import { ownValue } from '../../machinery/api/json-map.ts';
import { nearestName } from '../flags/suggestions.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, exitUsageError } from '../io/command-io.ts';
import { type Catalog, findCommand, isGroup } from './command-entry.ts';
import { nlcCatalog } from './command-list.ts';

const helpWords: ReadonlySet<string> = new Set(['help', '--help', '-h']);
/** For the scripts of `nlc completion`, and for kubectl; not listed. */
const completeWord = '__complete';

/** Runs the command that the arguments name and returns its exit code. Without arguments, or with a help flag, prints help. */
export async function dispatch(argv: readonly string[], io: CommandIo, catalog: Catalog = nlcCatalog): Promise<number> {
  if (argv[0] === completeWord) return complete(argv.slice(1), io, catalog);
  const [word = 'help', ...rest] = commandFirst(argv, catalog);
  if (helpWords.has(word)) return help(rest, io, catalog);
  const entry = findCommand(word === '--version' ? 'version' : word, catalog);
  if (entry === undefined) return unknownCommand(word, io, catalog);
  if (isGroup(entry)) return dispatchIn(await entry.loadCatalog(), rest, io);
  if (rest.includes('--help') || rest.includes('-h')) return help([entry.name], io, catalog);
  return (await entry.load()).run(rest, io);
}

function dispatchIn(catalog: Catalog, argv: readonly string[], io: CommandIo): Promise<number> {
  return dispatch(argv, { ...io, program: catalog.program }, catalog);
}

/** Flags that all commands of the catalog have may stand before the command, as for kubectl. */
function commandFirst(argv: readonly string[], { sharedFlags }: Catalog): readonly string[] {
  if (sharedFlags === undefined) return argv;
  const { operand, others } = takeOperand(argv, sharedFlags);
  return operand === undefined ? argv : [operand, ...others];
}

async function help(argv: readonly string[], io: CommandIo, catalog: Catalog): Promise<number> {
  return (await import('./help.ts')).help(argv, io, catalog);
}

async function complete(words: readonly string[], io: CommandIo, catalog: Catalog): Promise<number> {
  return (await import('./complete.ts')).complete(words, io, catalog);
}

function unknownCommand(word: string, io: CommandIo, { program, commands }: Catalog): number {
  const names = [...commands.map((entry) => entry.name), 'help'];
  const near = nearestName(word, names);
  const hint = near === undefined ? '' : `did you mean ${near}? `;
  io.stderr(`${program}: unknown command ${JSON.stringify(word)}; ${hint}available commands: ${names.join(', ')}\n`);
  return exitUsageError;
}

const pluginNames: Readonly<Record<string, readonly string[]>> = {
  'kubectl-node_lifecycle': ['kubectl'],
  'kubectl_complete-node_lifecycle': ['kubectl', '__complete'],
};

/** The arguments of `nlc` for a program that was started by this path: kubectl starts plugins by the name of their file. */
export function selectArguments(path: string, argv: readonly string[]): readonly string[] {
  const name = (path.split(/[/\\]/).at(-1) ?? '').replace(/\.(?:js|ts|mjs|cmd|exe)$/, '');
  return [...(ownValue(pluginNames, name) ?? []), ...argv];
}
