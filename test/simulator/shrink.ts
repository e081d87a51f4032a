// Makes a failing run smaller: fewer faults, fewer silent nodes, less time, as long as the same invariant is broken.
import type { Violation } from './checkers/violation.ts';
import type { RunPlan } from './run-plan.ts';

/** Remaining part of the plan of a seed; together with the seed it is the whole plan again. */
export interface Selection {
  /** Indexes of faults. */
  readonly faults: readonly number[];
  /** Indexes of silent nodes. */
  readonly silent: readonly number[];
  /** Virtual time at which the faults end. */
  readonly untilMs: number;
}

interface Shrunk {
  readonly selection: Selection;
  readonly violation: Violation;
  readonly runs: number;
}

/** The violation that a plan leads to. */
type Run = (plan: RunPlan) => Promise<Violation | undefined>;

const runsMax = 200;

export function selectAll(plan: RunPlan): Selection {
  return { faults: [...plan.faults.keys()], silent: [...plan.silent.keys()], untilMs: plan.untilMs };
}

/** The plan with only the selected parts; faults that end later end with the others. */
export function narrow(plan: RunPlan, { faults, silent, untilMs }: Selection): RunPlan {
  const kept = plan.faults.filter(({ atMs }, index) => faults.includes(index) && atMs < untilMs);
  return {
    ...plan,
    untilMs,
    faults: kept.map((fault) => ({
      ...fault,
      forMs: endsWith(plan, fault) ? Math.min(fault.forMs, untilMs - fault.atMs) : fault.forMs,
    })),
    silent: plan.silent.filter(({ atMs }, index) => silent.includes(index) && atMs < untilMs),
  };
}

/** True if the fault ends with the span of the faults, to within a rounding: a policy may stay. */
function endsWith({ untilMs }: RunPlan, { atMs, forMs }: RunPlan['faults'][number]): boolean {
  return atMs + forMs <= untilMs + 1;
}

/** The smallest selection that was found to break the same invariant. */
export async function shrink(plan: RunPlan, found: Violation, run: Run): Promise<Shrunk> {
  let best: Shrunk = { selection: selectAll(plan), violation: found, runs: 0 };
  let runs = 0;
  const attempt = async (selection: Selection): Promise<boolean> => {
    if (runs >= runsMax) return false;
    runs += 1;
    const violation = await run(narrow(plan, selection));
    if (violation?.invariant !== found.invariant) return false;
    best = { selection, violation, runs };
    return true;
  };
  const earlierMs = Math.ceil(found.atMs / 1_000) * 1_000;
  if (earlierMs < plan.untilMs) await attempt({ ...best.selection, untilMs: earlierMs });
  await dropParts('faults', () => best.selection, attempt);
  await dropParts('silent', () => best.selection, attempt);
  const lastMs = Math.max(plan.fromMs, ...best.selection.faults.map((index) => plan.faults[index]?.atMs ?? 0));
  if (lastMs + 1_000 < best.selection.untilMs) await attempt({ ...best.selection, untilMs: lastMs + 1_000 });
  return { ...best, runs };
}

/** Leaves out halves, then quarters, down to single ones. */
async function dropParts(
  part: 'faults' | 'silent',
  current: () => Selection,
  attempt: (selection: Selection) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(current()[part].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < current()[part].length; ) {
      const selection = current();
      const kept = selection[part].toSpliced(from, size);
      if (!(await attempt({ ...selection, [part]: kept }))) from += size;
    }
  }
}
