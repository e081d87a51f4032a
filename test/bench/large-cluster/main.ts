// `npm run bench:large-cluster`: `nlc controller` as a whole process, as shipped, with 100,000 nodes, 1,000,000 pods and
// 10,000 lease renewals a second for five minutes, from a stub of the API server on loopback. CPU, memory, the age of
// renewals when they are applied, and the delay of the event loop over time. Figures are printed and not checked.
import { freePorts } from '../../../src/cli/simulation/programs/free-ports.ts';
import { describeMachine } from '../describe-machine.ts';
import { writeFigures } from './figures-files.ts';
import { measureLargeCluster } from './measure.ts';
import { parseOptions, usage } from './options.ts';
import { formatSummary } from './summary.ts';

process.exitCode = await main();

async function main(): Promise<number> {
  let options: ReturnType<typeof parseOptions>;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const [metricsPort = 0, healthPort = 0] = await freePorts(2);
  const course = await measureLargeCluster(options, { metricsPort, healthPort });
  console.log(`\n${describeMachine()}\n\n${formatSummary(course)}`);
  writeFigures(course, options);
  return 0;
}
