import { completionScripts } from '../completion/completion-scripts.ts';
import { parseFlags } from '../flags/flags.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, exitSuccess, usageError } from '../io/command-io.ts';

/** `nlc completion SHELL`. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { operand, others } = takeOperand(argv, []);
  const script = completionScripts.get(operand ?? '');
  const got = operand === undefined ? 'got none' : `got ${JSON.stringify(operand)}`;
  const shellProblem = `SHELL: must be one of ${[...completionScripts.keys()].join(', ')} (${got})`;
  const problems = [...(script === undefined ? [shellProblem] : []), ...parseFlags(others, []).problems];
  if (script === undefined || problems.length > 0) return usageError(io, 'completion', problems, 'arguments');
  io.stdout(script);
  return exitSuccess;
}
