import { askController } from '../ask-controller.ts';
import { type CommandIo, refuse } from '../command-io.ts';
import { explainFlags } from '../explain-flags.ts';
import { readFlags } from '../flag-schema.ts';

/** `nlc status`: who leads, what a running controller sees, what waits and what holds it. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, explainFlags);
  if ('problems' in read) return refuse(io, 'status', read.problems);
  return askController({ command: 'status', path: '/status', values: read.values }, io);
}
