import { type CommandIo, exitDone, refuse } from '../command-io.ts';
import { type CommandEntry, commandList, findCommand } from '../command-list.ts';
import { flagHelp } from '../flag-help.ts';

/** `nlc help`, `nlc help COMMAND`, `nlc COMMAND --help`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...surplus] = argv;
  if (name === undefined || name === 'help') return say(io, overview());
  const entry = findCommand(name);
  if (entry === undefined || surplus.length > 0) return refuse(io, 'help', problems(name, entry, surplus));
  return say(io, await commandHelp(entry));
}

function say(io: CommandIo, text: string): number {
  io.stdout(text);
  return exitDone;
}

function problems(name: string, entry: CommandEntry | undefined, surplus: readonly string[]): readonly string[] {
  const names = commandList.map((known) => known.name).join(', ');
  const strays = surplus.map((word) => `stray argument ${JSON.stringify(word)}; accepted: one command`);
  return entry === undefined ? [`got ${JSON.stringify(name)}; accepted: ${names}`, ...strays] : strays;
}

const nameColumns = 14;

function overview(): string {
  const lines = commandList.map((entry) => `  ${entry.name.padEnd(nameColumns)}${entry.summary}\n`);
  return `nlc - the node lifecycle controller: notices silent nodes, and moves their pods at a pace the cluster can bear

Usage: nlc COMMAND [FLAGS]

Commands:
${lines.join('')}  ${'help'.padEnd(nameColumns)}Prints this, or with a command's name its flags

Exit codes: 0 done, 1 failed, 2 called the wrong way.
`;
}

async function commandHelp(entry: CommandEntry): Promise<string> {
  const flags = await entry.loadFlags();
  const head = `nlc ${entry.name} - ${entry.summary}\n\nUsage: nlc ${entry.name}${entry.operand === undefined ? '' : ` ${entry.operand}`}${flags.length === 0 ? '' : ' [FLAGS]'}\n`;
  return flags.length === 0 ? head : `${head}\n${flagHelp(flags)}`;
}
