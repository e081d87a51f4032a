import type { Violation } from '../../src/simulator/checkers/violation.ts';
import { planRun, type RunPlan } from '../../src/simulator/run-plan.ts';
import { type RunResult, runSeed } from '../../src/simulator/run-seed.ts';
import { narrow, type Selection, selectAll, shrink } from '../../src/simulator/shrink.ts';
import { Trace } from '../../src/simulator/trace.ts';
import { simulationRuntime } from '../../src/cli/simulate/simulation-runtime.ts';
import type { SimulationRuntime } from '../../src/simulator/world.ts';

/**
 * The event loop turns after each occurrence: a rejection that is handled only later ends the process, as in production.
 * The trace is the same.
 */
const strict: SimulationRuntime = { ...simulationRuntime, settle: (then) => void setImmediate(then) };

export function planOf(seed: number, selection: Partial<Selection> = {}): RunPlan {
  const plan = planRun(seed);
  return narrow(plan, { ...selectAll(plan), ...selection });
}

export function runPlan(plan: RunPlan, trace = new Trace()): Promise<RunResult> {
  return runSeed(plan, strict, trace);
}

/** What is printed for a violation: where, the last lines about its subject, and how to see it again. */
export async function describeViolation(plan: RunPlan, violation: Violation, shrinks: boolean): Promise<string> {
  const smaller = shrinks ? await shrink(plan, violation, async (each) => (await runPlan(each)).violation) : undefined;
  const selection = smaller?.selection ?? selectAll(plan);
  const shown = smaller?.violation ?? violation;
  const trace = new Trace();
  await runPlan(narrow(plan, selection), trace);
  const { faults, silent, untilMs } = selection;
  const { nodes, replicas, servers } = plan.cluster;
  const replay = `npm run test:sim -- --seed ${plan.seed} --faults ${faults.join() || "''"} --silent ${silent.join() || "''"} --until ${untilMs} --trace`;
  return [
    `seed ${plan.seed}: ${shown.invariant}: ${shown.subject}: ${shown.text} (at ${(shown.atMs / 1_000).toFixed(3)} s)`,
    `  ${nodes.length} nodes, ${replicas} replicas, ${servers} servers; ${faults.length} of ${plan.faults.length} faults left`,
    ...faults.map((index) => `  fault ${index}: ${JSON.stringify(plan.faults[index])}`),
    ...trace.last(12, lastName(shown.subject)).map((line) => `  | ${line.slice(0, 300)}`),
    `  ${replay}`,
  ].join('\n');
}

function lastName(subject: string): string {
  return subject.split('/').at(-1) ?? '';
}
