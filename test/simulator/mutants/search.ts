// A child process of `npm run test:sim:mutants`: runs seeds until the first violation, and prints it as JSON.
import type { Violation } from '../checkers/violation.ts';
import { planRun } from '../run-plan.ts';
import { runPlan } from '../run-one.ts';

export interface Found {
  readonly seed: number;
  readonly violation: Violation;
}

async function search(fromSeed: number, seedsMax: number): Promise<Found | undefined> {
  for (let seed = fromSeed; seed < fromSeed + seedsMax; seed += 1) {
    const { violation } = await runPlan(planRun(seed));
    if (violation !== undefined) return { seed, violation };
  }
  return undefined;
}

const [fromSeed = 0, seedsMax = 0] = process.argv.slice(2).map(Number);
process.stdout.write(JSON.stringify((await search(fromSeed, seedsMax)) ?? null));
