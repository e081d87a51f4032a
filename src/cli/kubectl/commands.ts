import { escapeControls } from '../../machinery/api/format-safe-text.ts';
import { pageCommands, withPages } from '../commands/page-commands.ts';
import { PageError } from '../client/page-source.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, type CommandModule, exitSuccess } from '../io/command-io.ts';
import { DashboardForwarder } from './dashboard-forwarder.ts';
import { clusterPageFlags, dashboardFlags } from './flags.ts';
import { LeaderPages } from './leader-pages.ts';

/** `kubectl node-lifecycle` with status, shadow and explain: pages of the leader. */
export const { status, shadow, explain } = pageCommands(
  { read: (argv) => readFlags(argv, clusterPageFlags), open: (values) => LeaderPages.open(values) },
  clusterPageFlags,
  'arguments',
);

/** `kubectl node-lifecycle dashboard`: the dashboard of the leader on loopback, until interrupted. */
export const dashboard: CommandModule = {
  run: (argv, io) =>
    withPages(
      { command: 'dashboard', argv, io },
      { read: (words) => readFlags(words, dashboardFlags), open: (values) => LeaderPages.open(values) },
      (leader, { port }) => serve(leader, port, io),
    ),
};

async function serve(leader: LeaderPages, port: number, io: CommandIo): Promise<number> {
  const { pod } = await leader.current(io.signal);
  const forwarder = new DashboardForwarder({ leader, say: io.stderr });
  const url = await forwarder.listen(port).catch((error: unknown) => {
    throw new PageError(`--port: cannot listen on 127.0.0.1:${port}: ${String(error)}`, { cause: error });
  });
  io.stdout(`${url}\n`);
  const name = escapeControls(`${pod.namespace}/${pod.name}`);
  io.stderr(`dashboard of pod ${name}; the address works on this machine only, until Ctrl+C\n`);
  await forwarder.run(io.signal);
  return exitSuccess;
}
