// `npm run bench:side-by-side`: CPU, memory and latency of `nlc controller` beside kube-controller-manager, one after the
// other on the same etcd and kube-apiserver, with the same flags, load and observer (docs/performance.md). Needs the control
// plane (`npm run control-plane`). Exit codes: 0 all rows are reported, 1 some are not, 2 usage error.
import { buildTable } from './build-table.ts';
import { type Contender, contenders } from './contenders.ts';
import { type Measured, measureContender } from './measure-contender.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { makePlan } from './plan.ts';
import { printRun, readRuns, type Run, writeRuns } from './report.ts';
import { Stand } from './stand.ts';

/** Above this number of cores used by other programs, figures do not compare with those of other runs. */
const otherCoresMax = 0.1;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = optionsOrError();
  if (options === undefined) return 2;
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const runs = options.from.length > 0 ? readRuns(options.from) : await measureSizes(options);
  writeRuns(runs, options);
  return runs.every(({ rows }) => rows.every(({ problems }) => problems.length === 0)) ? 0 : 1;
}

async function measureSizes(options: Options): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (const nodes of options.sizes) runs.push(await runSize(nodes, options));
  return runs;
}

function optionsOrError(): Options | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
}

/** Measures both controllers and prints their table. */
async function runSize(nodes: number, { podsPerNode, quick, first }: Options): Promise<Run> {
  const startedAtMs = performance.now();
  const say = (line: string): void => {
    console.error(`${String(Math.round((performance.now() - startedAtMs) / 1_000)).padStart(4)} s  ${line}`);
  };
  say(`starting a control plane; registering ${nodes} nodes and ${nodes * podsPerNode} pods`);
  await using stand = await Stand.start(makePlan({ nodes, podsPerNode }, quick));
  const order = contenders.toSorted((a, b) => Number(b === first) - Number(a === first));
  const measured: Partial<Record<Contender, Measured>> = {};
  for (const contender of order) measured[contender] = await measureContender(stand, contender, say);
  const both = measured as Record<Contender, Measured>;
  const rows = buildTable(nodes, {
    'kube-controller-manager': both['kube-controller-manager'].figures,
    nlc: both.nlc.figures,
  });
  const notes = [...notesOn(both), ...(quick ? ['--quick: windows are too short for figures'] : [])];
  say('done');
  const run = { nodes, podsPerNode, rows, measured: both, notes };
  printRun(run);
  return run;
}

function notesOn(measured: Readonly<Record<Contender, Measured>>): readonly string[] {
  return contenders.flatMap((contender) => {
    const { otherCores, falselyUnknown } = measured[contender];
    const others = Math.max(0, ...otherCores);
    const noise = `other programs used up to ${others.toFixed(2)} cores beside ${contender}: do not compare with other runs`;
    const nodes = falselyUnknown.length;
    return [
      ...(others > otherCoresMax ? [noise] : []),
      ...(nodes > 0 ? [`${contender}: ${nodes} nodes became Unknown although they renewed`] : []),
    ];
  });
}
