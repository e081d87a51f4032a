// A child process of `npm run test:sim:mutants`: runs seeds until the first violation, and prints it as JSON.
import type { Violation } from '../checkers/violation.ts';
import { planRun } from '../run-plan.ts';
import { runPlan } from '../run-one.ts';

export interface Found {
  readonly seed: number;
  readonly violation: Violation;
}

async function search(seeds: readonly number[]): Promise<Found | undefined> {
  for (const seed of seeds) {
    const { violation } = await runPlan(planRun(seed));
    if (violation !== undefined) return { seed, violation };
  }
  return undefined;
}

process.stdout.write(JSON.stringify((await search(process.argv.slice(2).map(Number))) ?? null));
