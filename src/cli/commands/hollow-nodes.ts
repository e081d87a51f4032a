import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { connect } from './connect.ts';
import { PinoLogger } from '../../machinery/adapters/pino-logger.ts';
import type { ScriptStep } from '../../hollow-cluster/kubelet/faults/fault-script.ts';
import type { FleetNode } from '../../hollow-cluster/kubelet/faults/select-nodes.ts';
import { type CommandIo, exitSuccess, exitFailure, usageError } from '../io/command-io.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readValues } from '../flags/flag-schema.ts';
import { parseFlags } from '../flags/flags.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import { isLoopback } from '../../machinery/page-server/own-host.ts';
import { FleetProcess } from '../simulation/hollow-nodes/fleet-process.ts';
import { readFaultScript } from '../simulation/hollow-nodes/fault-schema.ts';
import { type Read, readYamlText } from '../../machinery/yaml/yaml-text.ts';
import { hollowNodesFlags } from '../simulation/hollow-nodes/flags.ts';

/** V8's default lets the heap grow by half before a collection; thousands of mostly idle nodes would then hold garbage. */
const heapGrowingPercent = 20;

type HollowNodesValues = FlagValues<typeof hollowNodesFlags>;

/** `nlc hollow-nodes`: runs until the signal aborts. The Node objects stay in the API; their heartbeats stop. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(argv, hollowNodesFlags);
  const read = readValues(hollowNodesFlags, flags.inputs);
  const script = readScript(read.values);
  const problems = [
    ...flags.problems,
    ...read.problems,
    ...relationProblems(read.values, read.invalid),
    ...script.problems,
  ];
  if (problems.length > 0) return usageError(io, 'hollow-nodes', problems);
  const { values } = read;
  const { kubeconfig, context } = values;
  const logger = PinoLogger.create({ format: values.logFormat, verbosity: values.v });
  const connection = await connect({ command: 'hollow-nodes', kubeconfig, context, logger }, io);
  if (connection === undefined) return exitFailure;
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`);
  return await runProcess(
    new FleetProcess({ values, connection, nodes: fleetNodes(values), script: script.steps, logger, io }),
    io,
  );
}

async function runProcess(process: FleetProcess, io: CommandIo): Promise<number> {
  try {
    await process.run();
    return exitSuccess;
  } catch (error) {
    // System errors (an address or a file that is not available) are user errors; any other error is a bug.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    io.stderr(`nlc hollow-nodes: ${error.message}\n`);
    return exitFailure;
  }
}

/** The fault script of `--script`, in YAML or JSON. Problems name the file. */
function readScript({ script }: HollowNodesValues): {
  readonly steps: readonly ScriptStep[];
  readonly problems: readonly string[];
} {
  if (script === undefined) return { steps: [], problems: [] };
  const parsed = parseFile(script);
  if ('problems' in parsed) return { steps: [], problems: parsed.problems };
  const read = readFaultScript(parsed.value);
  if ('value' in read) return { steps: read.value, problems: [] };
  return { steps: [], problems: read.problems.map((problem) => `${script}: ${problem}`) };
}

function parseFile(path: string): Read<unknown> {
  try {
    return readYamlText(path, readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problems: [`--script: cannot read ${JSON.stringify(path)}: ${why}`] };
  }
}

function relationProblems(values: HollowNodesValues, refused: ReadonlySet<string>): readonly string[] {
  const problems: string[] = [];
  if (values.kubeconfig === undefined && !refused.has('kubeconfig')) {
    problems.push('--kubeconfig: value required: must be a kubeconfig file');
  }
  if (values.leaseDurationMs % 1_000 !== 0) {
    const given = formatGoDuration(values.leaseDurationMs);
    problems.push(`--lease-duration: must be whole seconds, the unit of leaseDurationSeconds (got ${given})`);
  }
  return [...problems, ...controlProblems(values), ...shutdownProblems(values)];
}

function controlProblems({ controlAddress, controlTokenFile }: HollowNodesValues): readonly string[] {
  if (controlTokenFile !== undefined && !hasToken(controlTokenFile)) {
    const given = JSON.stringify(controlTokenFile);
    return [`--control-token-file: must be a readable file with a token that is not empty (got ${given})`];
  }
  if (controlAddress === 'off' || controlTokenFile !== undefined || isLoopback(controlAddress)) return [];
  const given = JSON.stringify(controlAddress.host);
  return [
    `--control-address: must have a loopback host, such as 127.0.0.1, without --control-token-file (got host ${given})`,
  ];
}

function hasToken(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}

function shutdownProblems(values: HollowNodesValues): readonly string[] {
  const { shutdownGracePeriodMs, shutdownGracePeriodCriticalPodsMs } = values;
  if (shutdownGracePeriodCriticalPodsMs <= shutdownGracePeriodMs) return [];
  const given = formatGoDuration(shutdownGracePeriodCriticalPodsMs);
  return [`--shutdown-grace-period-critical-pods: must be <= --shutdown-grace-period (got ${given})`];
}

/** The nodes that the flags describe, assigned to the zones in round-robin order. */
export function fleetNodes(
  values: Pick<HollowNodesValues, 'nodes' | 'zones' | 'region' | 'namePrefix' | 'nodeLabels'>,
): readonly FleetNode[] {
  return Array.from({ length: values.nodes }, (_, index) => ({
    name: `${values.namePrefix}-${index}`,
    labels: { ...zoneLabels(values, index), ...values.nodeLabels },
  }));
}

function zoneLabels(
  { zones, region }: Pick<HollowNodesValues, 'zones' | 'region'>,
  index: number,
): FleetNode['labels'] {
  if (zones === 0) return {};
  return {
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': `${region}-${(index % zones) + 1}`,
  };
}
