import { type PageAccess, withPages } from './page-commands.ts';
import { accessProblems } from '../client/page-access.ts';
import { ServerPages } from '../client/server-pages.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';
import type { CommandModule } from '../io/command-io.ts';
import { clusterTopFlags } from '../kubectl/flags.ts';
import { LeaderPages } from '../kubectl/leader-pages.ts';
import { type topDisplayFlags, topFlags } from '../top/flags.ts';
import { runTop } from '../top/run-top.ts';

/** `nlc top`: zones, nodes that are not ready, pods that are due first and holds of a running controller. */
export const top = topCommand<FlagValues<typeof topFlags>>({
  read: (argv) => readFlags(argv, topFlags),
  validate: accessProblems,
  open: (values) => ServerPages.open(values),
});

/** `kubectl node-lifecycle top`. */
export const kubectlTop = topCommand({
  read: (argv) => readFlags(argv, clusterTopFlags),
  open: (values) => LeaderPages.open(values),
});

function topCommand<Values extends FlagValues<typeof topDisplayFlags>>(access: PageAccess<Values>): CommandModule {
  return {
    run: (argv, io) => withPages({ command: 'top', argv, io }, access, (source, values) => runTop(source, values, io)),
  };
}
