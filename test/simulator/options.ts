import { parseArgs } from 'node:util';
import type { Selection } from './shrink.ts';

export const usage = `npm run test:sim -- [options]

  --seeds N     number of seeds (default 100)
  --from S      first seed (default: a fresh one, which is printed)
  --jobs J      processes (default 2)
  --seed S      one seed; with --trace its whole trace
  --faults LIST, --silent LIST, --until MS
                only these parts of its plan, as printed for a seed that was shrunk
  --no-shrink   print a failing seed as it is
  --regressions only the seeds in test/simulator/regression-seeds.ts
`;

export interface SimOptions {
  readonly from: number;
  readonly seeds: number;
  readonly jobs: number;
  readonly one: boolean;
  readonly trace: boolean;
  readonly shrinks: boolean;
  readonly regressions: boolean;
  /** Parts of the plan of one seed. */
  readonly selection: Partial<Selection>;
}

const seedMax = 2 ** 31;

/** Throws an Error that names the option and what is accepted. */
export function parseOptions(argv: readonly string[]): SimOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seeds: { type: 'string' },
      from: { type: 'string' },
      jobs: { type: 'string' },
      seed: { type: 'string' },
      trace: { type: 'boolean' },
      faults: { type: 'string' },
      silent: { type: 'string' },
      until: { type: 'string' },
      'no-shrink': { type: 'boolean' },
      regressions: { type: 'boolean' },
    },
  });
  const one = values.seed !== undefined;
  return {
    from: whole('--seed', values.seed) ?? whole('--from', values.from) ?? Math.floor(Math.random() * seedMax),
    seeds: one ? 1 : (whole('--seeds', values.seeds) ?? 100),
    jobs: one ? 1 : Math.max(1, whole('--jobs', values.jobs) ?? 2),
    one,
    trace: values.trace ?? false,
    shrinks: values['no-shrink'] !== true,
    regressions: values.regressions ?? false,
    selection: {
      ...(values.faults === undefined ? {} : { faults: list('--faults', values.faults) }),
      ...(values.silent === undefined ? {} : { silent: list('--silent', values.silent) }),
      ...(values.until === undefined ? {} : { untilMs: whole('--until', values.until) ?? 0 }),
    },
  };
}

function whole(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text);
  throw new Error(`${option}: must be a whole number >= 0 (got ${text})`);
}

function list(option: string, text: string): readonly number[] {
  return text === '' ? [] : text.split(',').map((item) => whole(option, item) ?? 0);
}
