import {
  describeSubjectProblem,
  printPage,
  selectSubjectPage,
  shadowPage,
  statusPage,
  type WantedPage,
  withPages,
} from '../client/controller-client.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, type CommandModule, usageError } from '../io/command-io.ts';
import { clusterPageFlags } from './flags.ts';
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
