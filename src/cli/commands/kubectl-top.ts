import { withPages } from '../client/controller-client.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, usageError } from '../io/command-io.ts';
import { runTop } from '../top/run-top.ts';
import { clusterTopFlags } from '../kubectl/flags.ts';
import { LeaderPages } from '../kubectl/leader-pages.ts';

/** `kubectl node-lifecycle top`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, clusterTopFlags);
  if ('problems' in read) return usageError(io, 'top', read.problems);
  const { values } = read;
  return withPages(
    'top',
    io,
    () => LeaderPages.open(values),
    (source) => runTop(source, values, io),
  );
}
