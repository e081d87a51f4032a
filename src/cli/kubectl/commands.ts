import { escapeControls } from '../../machinery/api/format-safe-text.ts';
import {
  describeSubjectProblem,
  printPage,
  selectSubjectPage,
  shadowPage,
  statusPage,
  type WantedPage,
  withPages,
} from '../client/controller-client.ts';
import { PageError } from '../client/page-source.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, type CommandModule, exitSuccess, usageError } from '../io/command-io.ts';
import { DashboardForwarder } from './dashboard-forwarder.ts';
import { clusterPageFlags, dashboardFlags } from './flags.ts';
import { LeaderPages } from './leader-pages.ts';

/** `kubectl node-lifecycle status`. */
export const status: CommandModule = { run: (argv, io) => printLeaderPage(statusPage, argv, io) };

/** `kubectl node-lifecycle shadow`. */
export const shadow: CommandModule = { run: (argv, io) => printLeaderPage(shadowPage, argv, io) };

/** `kubectl node-lifecycle explain node/NAME` or `pod/NAMESPACE/NAME`. */
export const explain: CommandModule = {
  run: async (argv, io) => {
    const { operand, others } = takeOperand(argv, clusterPageFlags);
    const page = selectSubjectPage(operand);
    if (page !== undefined) return printLeaderPage(page, others, io);
    const read = readFlags(others, clusterPageFlags);
    const problems = [describeSubjectProblem(operand), ...('problems' in read ? read.problems : [])];
    return usageError(io, 'explain', problems, 'arguments');
  },
};

async function printLeaderPage(page: WantedPage, argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, clusterPageFlags);
  if ('problems' in read) return usageError(io, page.command, read.problems, 'arguments');
  const { values } = read;
  return withPages(
    page.command,
    io,
    () => LeaderPages.open(values),
    (source) => printPage(source, page, values.output, io),
  );
}

/** `kubectl node-lifecycle dashboard`: the dashboard of the leader on loopback, until interrupted. */
export const dashboard: CommandModule = { run: serveDashboard };

async function serveDashboard(argv: readonly string[], io: CommandIo): Promise<number> {
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
