import type { Violation } from './checkers/violation.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { type RunResult, runSeed } from './run-seed.ts';
import { narrow, type Selection, selectAll, shrink } from './shrink.ts';
import { Trace } from '../../src/simulator/trace.ts';
import { simulationRuntime } from '../../src/cli/simulate/simulation-runtime.ts';

/** Lines of the trace that are printed for a violation. */
const shownMax = 12;

export function planOf(seed: number, selection: Partial<Selection> = {}): RunPlan {
  const plan = planRun(seed);
  return narrow(plan, { ...selectAll(plan), ...selection });
}

export function runPlan(plan: RunPlan, trace = new Trace()): Promise<RunResult> {
  return runSeed(plan, simulationRuntime, trace);
}

/** What is printed for a violation: where, the last lines about its subject, and how to see it again. */
export async function describeViolation(plan: RunPlan, violation: Violation, shrinks: boolean): Promise<string> {
  const smaller = shrinks ? await shrink(plan, violation, async (each) => (await runPlan(each)).violation) : undefined;
  const selection = smaller?.selection ?? selectAll(plan);
  const shown = smaller?.violation ?? violation;
  const lines: string[] = [];
  await runPlan(narrow(plan, selection), new Trace((line) => lines.push(line)));
  const { faults, silent, untilMs } = selection;
  const { nodes, replicas, servers } = plan.cluster;
  const replay = `npm run test:sim -- --seed ${plan.seed} --faults ${faults.join() || "''"} --silent ${silent.join() || "''"} --until ${untilMs} --trace`;
  return [
    `seed ${plan.seed}: ${shown.invariant}: ${shown.subject}: ${shown.text} (at ${(shown.atMs / 1_000).toFixed(3)} s)`,
    `  ${nodes.length} nodes, ${replicas} replicas, ${servers} servers; ${faults.length} of ${plan.faults.length} faults left`,
    ...faults.map((index) => `  fault ${index}: ${JSON.stringify(plan.faults[index])}`),
    ...lastAbout(lines, lastName(shown.subject)).map((line) => `  | ${line.slice(0, 300)}`),
    `  ${replay}`,
  ].join('\n');
}

/** The last lines that mention the text; of all if it is empty. */
function lastAbout(lines: readonly string[], text: string): readonly string[] {
  return lines.filter((line) => line.includes(text)).slice(-shownMax);
}

function lastName(subject: string): string {
  return subject.split('/').at(-1) ?? '';
}
