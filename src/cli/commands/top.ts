import { withPages } from '../client/controller-client.ts';
import { accessProblems } from '../client/page-access.ts';
import { ServerPages } from '../client/server-pages.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, type CommandModule, usageError } from '../io/command-io.ts';
import { clusterTopFlags } from '../kubectl/flags.ts';
import { LeaderPages } from '../kubectl/leader-pages.ts';
import { topFlags } from '../top/flags.ts';
import { runTop } from '../top/run-top.ts';

/** `nlc top`: zones, nodes that are not ready, pods that are due first and holds of a running controller. */
export const top: CommandModule = { run: showTop };

async function showTop(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, topFlags);
  const problems = 'problems' in read ? read.problems : accessProblems(read.values);
  if ('problems' in read || problems.length > 0) return usageError(io, 'top', problems);
  const { values } = read;
  return withPages(
    'top',
    io,
    () => ServerPages.open(values),
    (source) => runTop(source, values, io),
  );
}

/** `kubectl node-lifecycle top`. */
export const kubectlTop: CommandModule = { run: showLeaderTop };

async function showLeaderTop(argv: readonly string[], io: CommandIo): Promise<number> {
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
