// `npm run test:sim:mutants`: plants each mutant and counts the seeds until an invariant is broken. A seed counts only if
// the code without the mutant passes it. Ends with 1 if a mutant is not caught.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { regressionSeeds } from '../regression-seeds.ts';
import { mutants } from './mutants.ts';
import type { Mutant } from './mutant.ts';
import type { Found } from './search.ts';

const usage = `npm run test:sim:mutants -- [options]

  --only NAME      only this mutant; may be given several times
  --seeds-max N    seeds for each mutant (default 2000)
  --from S         first seed; absent: 1 to 200, the regression seeds, and from 201 on
  --jobs J         processes (default 2)
`;

interface Options {
  readonly mutants: readonly Mutant[];
  readonly seeds: readonly number[];
  readonly jobs: number;
}

interface Outcome {
  readonly mutant: Mutant;
  /** Seeds that were run, the last one included. */
  readonly seeds: number;
  readonly seconds: number;
  /** Undefined: not caught. */
  readonly found: Found | undefined;
}

function parseOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', multiple: true },
      'seeds-max': { type: 'string' },
      from: { type: 'string' },
      jobs: { type: 'string' },
    },
  });
  const only = values.only ?? [];
  const unknown = only.find((name) => mutants.every((mutant) => mutant.name !== name));
  if (unknown !== undefined) throw new Error(`--only: no mutant has this name (got ${unknown})`);
  return {
    mutants: only.length === 0 ? mutants : mutants.filter(({ name }) => only.includes(name)),
    seeds: seedsFrom(values.from, wholeOf('--seeds-max', values['seeds-max'] ?? '2000')),
    jobs: Math.max(1, wholeOf('--jobs', values.jobs ?? '2')),
  };
}

/** As continuous integration begins: a defect that the regression seeds find cannot come back. */
const first = 200;

function seedsFrom(from: string | undefined, seedsMax: number): readonly number[] {
  const all = Array.from({ length: seedsMax }, (_, index) => wholeOf('--from', from ?? '1') + index);
  if (from !== undefined) return all;
  return [...all.slice(0, first), ...regressionSeeds.map(({ seed }) => seed), ...all.slice(first)].slice(0, seedsMax);
}

function wholeOf(option: string, text: string): number {
  if (/^[0-9]+$/.test(text)) return Number(text);
  throw new Error(`${option}: must be a whole number >= 0 (got ${text})`);
}

/** The first violation of these seeds, with the mutant, or without any if its name is empty. */
function search(mutant: string, seeds: readonly number[]): Promise<Found | undefined> {
  const file = (name: string): string => resolve(import.meta.dirname, name);
  const args = ['--import', file('plant.ts'), file('search.ts'), ...seeds.map(String)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SIMULATOR_MUTANT: mutant },
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((done, reject) => {
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`${mutant}: the process ended with exit code ${code}`));
      const found = JSON.parse(text) as Found | null;
      done(found ?? undefined);
    });
  });
}

/** Continues behind seeds that the code breaks without the mutant too. */
async function hunt(mutant: Mutant, { seeds }: Options): Promise<Outcome> {
  const startedAtMs = performance.now();
  const outcome = (run: number, found: Found | undefined): Outcome => {
    return { mutant, seeds: run, seconds: (performance.now() - startedAtMs) / 1_000, found };
  };
  for (let run = 0; run < seeds.length; ) {
    const found = await search(mutant.name, seeds.slice(run));
    if (found === undefined) break;
    run = seeds.indexOf(found.seed) + 1;
    if ((await search('', [found.seed])) === undefined) return outcome(run, found);
  }
  return outcome(seeds.length, undefined);
}

function describe({ mutant, seeds, seconds, found }: Outcome): string {
  const by = found === undefined ? 'NOT CAUGHT' : `${found.violation.invariant} (seed ${found.seed})`;
  return `${mutant.name.padEnd(40)} ${String(seeds).padStart(5)} ${seconds.toFixed(0).padStart(5)} s  ${by}`;
}

async function run(options: Options): Promise<number> {
  const left = options.mutants.values();
  const outcomes: Outcome[] = [];
  process.stdout.write(`${'mutant'.padEnd(40)} seeds    time  invariant\n`);
  const worker = async (): Promise<void> => {
    for (const mutant of left) {
      const outcome = await hunt(mutant, options);
      outcomes.push(outcome);
      process.stdout.write(`${describe(outcome)}\n`);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  const missed = outcomes.filter(({ found }) => found === undefined);
  process.stdout.write(`${outcomes.length - missed.length} of ${outcomes.length} mutants caught\n`);
  return missed.length === 0 ? 0 : 1;
}

try {
  if (process.argv.includes('--help')) process.stdout.write(usage);
  else process.exitCode = await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exitCode = 2;
}
