import { type CommandIo, exitSuccess, usageError } from '../io/command-io.ts';
import { type CommandEntry, commandList, findCommand } from './command-list.ts';
import { flagHelp } from '../flags/flag-help.ts';

/** `nlc help`, `nlc help COMMAND`, `nlc COMMAND --help`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...extra] = argv;
  if (name === undefined || name === 'help') return say(io, overview());
  const entry = findCommand(name);
  if (entry === undefined || extra.length > 0) return usageError(io, 'help', problems(name, entry, extra), 'arguments');
  return say(io, await commandHelp(entry));
}

function say(io: CommandIo, text: string): number {
  io.stdout(text);
  return exitSuccess;
}

function problems(name: string, entry: CommandEntry | undefined, extra: readonly string[]): readonly string[] {
  const names = commandList.map((known) => known.name).join(', ');
  const unexpected = extra.map((word) => `unexpected argument ${JSON.stringify(word)}: only one command is accepted`);
  return entry === undefined
    ? [`command: must be one of ${names} (got ${JSON.stringify(name)})`, ...unexpected]
    : unexpected;
}

const nameColumns = 14;

function overview(): string {
  const lines = commandList.map((entry) => `  ${entry.name.padEnd(nameColumns)}${entry.summary}\n`);
  return `nlc - node lifecycle controller: monitors node health, taints unhealthy nodes and evicts their pods at a limited rate

Usage: nlc COMMAND [FLAGS]

Commands:
${lines.join('')}  ${'help'.padEnd(nameColumns)}Prints this help, or the flags of a command

Exit codes: 0 success, 1 failure, 2 usage error.
`;
}

async function commandHelp(entry: CommandEntry): Promise<string> {
  const flags = await entry.loadFlags();
  const head = `nlc ${entry.name} - ${entry.summary}\n\nUsage: nlc ${entry.name}${entry.operand === undefined ? '' : ` ${entry.operand}`}${flags.length === 0 ? '' : ' [FLAGS]'}\n`;
  return flags.length === 0 ? head : `${head}\n${flagHelp(flags)}`;
}
