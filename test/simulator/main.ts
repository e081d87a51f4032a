// `npm run test:sim`: runs seeds of the simulator, in several processes, and reports every violation with the command that
// replays it.
import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { planRun } from './run-plan.ts';
import { Trace } from '../../src/simulator/trace.ts';
import { parseOptions, type SimOptions, usage } from './options.ts';
import { regressionSeeds } from './regression-seeds.ts';
import { describeViolation, planOf, runPlan } from './run-one.ts';

interface Tally {
  seeds: number;
  failed: number;
  virtualMs: number;
  taints: number;
  deletions: number;
}

async function runOne({ from, selection, trace, shrinks }: SimOptions): Promise<number> {
  const plan = planOf(from, selection);
  const result = await runPlan(plan, trace ? new Trace((line) => process.stdout.write(`${line}\n`)) : new Trace());
  if (result.violation === undefined) {
    process.stdout.write(`seed ${from}: no violation in ${(result.virtualMs / 1_000).toFixed(0)} virtual s\n`);
    return 0;
  }
  const isWhole = Object.keys(selection).length === 0;
  process.stdout.write(`${await describeViolation(plan, result.violation, shrinks && isWhole)}\n`);
  return 1;
}

async function runSeeds(seeds: readonly number[], shrinks: boolean): Promise<Tally> {
  const tally: Tally = { seeds: 0, failed: 0, virtualMs: 0, taints: 0, deletions: 0 };
  for (const seed of seeds) {
    tally.seeds += 1;
    const problem = await checkSeed(seed, tally, shrinks).catch(
      // Of the simulator itself: the seeds after it are run all the same.
      (error: unknown) => `seed ${seed}: the simulator failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
    if (problem === undefined) continue;
    tally.failed += 1;
    process.stdout.write(`${problem}\n`);
  }
  return tally;
}

/** The violation as it is printed; undefined: none. */
async function checkSeed(seed: number, tally: Tally, shrinks: boolean): Promise<string | undefined> {
  const plan = planRun(seed);
  const { violation, virtualMs, taints, deletions } = await runPlan(plan);
  tally.virtualMs += virtualMs;
  tally.taints += taints;
  tally.deletions += deletions;
  return violation === undefined ? undefined : describeViolation(plan, violation, shrinks);
}

/** A process for each share of the seeds; its last line is its tally. */
function runJob(seeds: readonly number[], shrinks: boolean): Promise<Tally> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--job', String(shrinks)], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  child.stdin?.end(JSON.stringify(seeds));
  let last = '';
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('tally ')) last = line.slice('tally '.length);
      else process.stdout.write(`${line}\n`);
    }
  });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => {
      if (last === '') reject(new Error(`a job ended with exit code ${code} and without a result`));
      else resolve(JSON.parse(last) as Tally);
    });
  });
}

async function runAll(seeds: readonly number[], options: SimOptions): Promise<number> {
  const startedAtMs = performance.now();
  const jobs = Math.min(options.jobs, seeds.length);
  const which = options.regressions ? 'regression seeds' : `seeds from ${options.from}`;
  process.stdout.write(`${seeds.length} ${which} in ${jobs} processes\n`);
  const shares = Array.from({ length: jobs }, (_, job) => seeds.filter((_seed, at) => at % jobs === job));
  return report(await Promise.all(shares.map((share) => runJob(share, options.shrinks))), startedAtMs);
}

function report(tallies: readonly Tally[], startedAtMs: number): number {
  const sum = (of: keyof Tally): number => tallies.reduce((total, tally) => total + tally[of], 0);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  process.stdout.write(
    `${sum('seeds')} seeds in ${seconds.toFixed(1)} s (${(sum('seeds') / seconds).toFixed(1)} seeds/s, ` +
      `${(sum('virtualMs') / 1_000 / seconds).toFixed(0)} virtual s/s): ${sum('failed')} with a violation; ` +
      `${sum('taints')} NoExecute taints, ${sum('deletions')} pod deletions checked\n`,
  );
  return sum('failed') === 0 ? 0 : 1;
}

/** What a job does: the seeds are read from its standard input. */
async function runShare(shrinks: boolean): Promise<number> {
  // Ends with the process that started it, which may be killed.
  const orphaned = (): never => process.exit(1);
  process.once('disconnect', orphaned);
  const seeds = (await json(process.stdin)) as readonly number[];
  process.stdout.write(`tally ${JSON.stringify(await runSeeds(seeds, shrinks))}\n`);
  process.off('disconnect', orphaned);
  process.disconnect?.();
  return 0;
}

async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === '--job') return runShare(argv[1] === 'true');
  if (argv.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const options = parseOptions(argv);
  if (options.one) return runOne(options);
  const seeds = options.regressions
    ? regressionSeeds.map(({ seed }) => seed)
    : Array.from({ length: options.seeds }, (_, offset) => options.from + offset);
  return runAll(seeds, options);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}
