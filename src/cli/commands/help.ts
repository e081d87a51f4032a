import { flagHelp } from '../flags/flag-help.ts';
import { parseFlags } from '../flags/flags.ts';
import { type CommandIo, type CommandModule, exitSuccess, usageError } from '../io/command-io.ts';
import { ownVersion } from '../io/version.ts';
import { type Catalog, type CommandEntry, type CommandGroup, findCommand, isGroup } from './command-entry.ts';

/** `nlc help`, `nlc help COMMAND`, `nlc COMMAND --help`, and the same for a command that has commands. */
export async function help(argv: readonly string[], io: CommandIo, catalog: Catalog): Promise<number> {
  const [name, ...extra] = argv;
  if (name === undefined || name === 'help') return say(io, overview(catalog));
  const entry = findCommand(name, catalog);
  if (entry !== undefined && isGroup(entry)) return help(extra, io, await entry.loadCatalog());
  if (entry !== undefined && extra.length === 0) return say(io, await commandHelp(entry, catalog));
  return usageError(io, 'help', problems(name, entry, extra, catalog), 'arguments');
}

function say(io: CommandIo, text: string): number {
  io.stdout(text);
  return exitSuccess;
}

function problems(
  name: string,
  entry: CommandEntry | CommandGroup | undefined,
  extra: readonly string[],
  { commands }: Catalog,
): readonly string[] {
  const names = commands.map((known) => known.name).join(', ');
  const unexpected = extra.map((word) => `unexpected argument ${JSON.stringify(word)}: only one command is accepted`);
  return entry === undefined
    ? [`command: must be one of ${names} (got ${JSON.stringify(name)})`, ...unexpected]
    : unexpected;
}

const nameColumns = 14;

function overview({ program, title, commands }: Catalog): string {
  const lines = commands.map((entry) => `  ${entry.name.padEnd(nameColumns)}${entry.summary}\n`);
  return `${program} - ${title}

Usage: ${program} COMMAND [FLAGS]

Commands:
${lines.join('')}  ${'help'.padEnd(nameColumns)}Prints this help, or the flags of a command

Exit codes: 0 success, 1 failure, 2 usage error.
`;
}

async function commandHelp(entry: CommandEntry, { program }: Catalog): Promise<string> {
  const flags = await entry.loadFlags();
  const name = `${program} ${entry.name}`;
  const usage = `${name}${entry.operand === undefined ? '' : ` ${entry.operand}`}${flags.length === 0 ? '' : ' [FLAGS]'}`;
  const head = `${name} - ${entry.summary}\n\nUsage: ${usage}\n`;
  return flags.length === 0 ? head : `${head}\n${flagHelp(flags)}`;
}

/** `nlc version`. */
export const version: CommandModule = { run: async (argv, io) => printVersion(argv, io) };

function printVersion(argv: readonly string[], io: CommandIo): number {
  const { problems } = parseFlags(argv, []);
  if (problems.length > 0) return usageError(io, 'version', problems);
  io.stdout(`nlc ${ownVersion()} (Node.js ${process.version}, ${process.platform}/${process.arch})\n`);
  return exitSuccess;
}
