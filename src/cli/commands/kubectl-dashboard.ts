import { withPages } from '../client/controller-client.ts';
import { PageError } from '../client/page-source.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, exitSuccess, usageError } from '../io/command-io.ts';
import { escapeControls } from '../../machinery/api/format-safe-text.ts';
import { DashboardForwarder } from '../kubectl/dashboard-forwarder.ts';
import { dashboardFlags } from '../kubectl/flags.ts';
import { LeaderPages } from '../kubectl/leader-pages.ts';

/** `kubectl node-lifecycle dashboard`: the dashboard of the leader on loopback, until interrupted. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, dashboardFlags);
  if ('problems' in read) return usageError(io, 'dashboard', read.problems);
  const { values } = read;
  let leader: LeaderPages | undefined;
  return withPages(
    'dashboard',
    io,
    async () => (leader = await LeaderPages.open(values)),
    () => (leader === undefined ? Promise.resolve(exitSuccess) : serve(leader, values.port, io)),
  );
}

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
