import { type CommandIo, exitDone, refuse } from '../command-io.ts';
import { parseFlags } from '../flags.ts';
import { ownVersion } from '../version.ts';

/** `nlc version`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { problems } = parseFlags(argv, []);
  if (problems.length > 0) return refuse(io, 'version', problems);
  io.stdout(`nlc ${ownVersion()} (Node.js ${process.version}, ${process.platform}/${process.arch})\n`);
  return exitDone;
}
