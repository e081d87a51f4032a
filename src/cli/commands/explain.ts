import { printControllerPage } from '../client/controller-client.ts';
import { explainFlags } from '../client/flags.ts';
import { describeSubjectProblem, selectSubjectPage } from '../client/select-subject.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, usageError } from '../io/command-io.ts';

/** `nlc explain node/NAME` or `pod/NAMESPACE/NAME`: the state of the object in a running controller, and its next action. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { operand, others } = takeOperand(argv, explainFlags);
  const page = selectSubjectPage(operand);
  const read = readFlags(others, explainFlags);
  const problems = page === undefined ? [describeSubjectProblem(operand)] : [];
  if ('problems' in read) return usageError(io, 'explain', [...problems, ...read.problems], 'arguments');
  if (page === undefined) return usageError(io, 'explain', problems, 'arguments');
  return printControllerPage(page, read.values, io);
}
