import { type CommandIo, exitSuccess, usageError } from '../io/command-io.ts';
import { parseFlags } from '../flags/flags.ts';
import { ownVersion } from '../io/version.ts';

/** `nlc version`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { problems } = parseFlags(argv, []);
  if (problems.length > 0) return usageError(io, 'version', problems);
  io.stdout(`nlc ${ownVersion()} (Node.js ${process.version}, ${process.platform}/${process.arch})\n`);
  return exitSuccess;
}
