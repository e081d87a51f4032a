import { askController } from '../ask-controller.ts';
import { type CommandIo, refuse } from '../command-io.ts';
import { explainFlags } from '../explain-flags.ts';
import { readFlags } from '../flag-schema.ts';

/** `nlc shadow`: how a controller that runs with `--shadow` compares with those that act. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, explainFlags);
  if ('problems' in read) return refuse(io, 'shadow', read.problems);
  return askController({ command: 'shadow', path: '/shadow', values: read.values }, io);
}
