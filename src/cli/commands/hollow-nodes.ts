import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { ConnectionError } from '../../adapters/connection-error.ts';
import type { Connection } from '../../adapters/http-connection.ts';
import { loadConnection } from '../../adapters/kube-connection.ts';
import { PinoLogger } from '../../adapters/pino-logger.ts';
import type { ScriptStep } from '../../kubelet/faults/fault-script.ts';
import type { FleetNode } from '../../kubelet/fleet.ts';
import { type CommandIo, exitDone, exitFailed, refuse } from '../command-io.ts';
import type { FlagValues } from '../flag-definition.ts';
import { readValues } from '../flag-schema.ts';
import { parseFlags } from '../flags.ts';
import { formatGoDuration } from '../../api/go-duration.ts';
import { isLoopback } from '../hollow-nodes/control-access.ts';
import { FleetProcess } from '../hollow-nodes/fleet-process.ts';
import { readScriptFile } from '../hollow-nodes/script-file.ts';
import { hollowNodesFlags } from '../hollow-nodes-flags.ts';
import { logFormat } from '../shared-flags.ts';

/** Thousands of nodes change little of what they hold: a heap that may grow by half before it is swept is mostly garbage. */
const heapGrowingPercent = 20;

type HollowNodesValues = FlagValues<typeof hollowNodesFlags>;

/** `nlc hollow-nodes`: runs until it is told to stop. The Node objects stay behind and fall silent. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(argv, hollowNodesFlags);
  const read = readValues(hollowNodesFlags, flags.inputs);
  const script = readScript(read.values);
  const problems = [
    ...flags.problems,
    ...read.problems,
    ...relationProblems(read.values, read.refused),
    ...script.problems,
  ];
  if (problems.length > 0) return refuse(io, 'hollow-nodes', problems);
  const connection = await connect(read.values, io);
  if (connection === undefined) return exitFailed;
  const { values } = read;
  const logger = loggerOf(values);
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`);
  return await runProcess(
    new FleetProcess({ values, connection, nodes: fleetNodes(values), script: script.steps, logger, io }),
    io,
  );
}

async function runProcess(process: FleetProcess, io: CommandIo): Promise<number> {
  try {
    await process.run();
    return exitDone;
  } catch (error) {
    // An address or a file that cannot be had: everything else that fails is a defect.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    io.stderr(`nlc hollow-nodes: ${error.message}\n`);
    return exitFailed;
  }
}

function readScript({ script }: HollowNodesValues): {
  readonly steps: readonly ScriptStep[];
  readonly problems: readonly string[];
} {
  if (script === undefined) return { steps: [], problems: [] };
  const read = readScriptFile(script);
  return 'problems' in read ? { steps: [], problems: read.problems } : { steps: read.value, problems: [] };
}

function relationProblems(values: HollowNodesValues, refused: ReadonlySet<string>): readonly string[] {
  const problems: string[] = [];
  if (values.kubeconfig === undefined && !refused.has('kubeconfig')) {
    problems.push('--kubeconfig: is missing; accepted: a kubeconfig file, given on purpose');
  }
  if (values.leaseDuration % 1_000 !== 0) {
    const given = formatGoDuration(values.leaseDuration);
    problems.push(`--lease-duration: got ${given}; accepted: whole seconds, because a lease can say nothing finer`);
  }
  return [...problems, ...controlProblems(values), ...shutdownProblems(values)];
}

function controlProblems({ controlAddress, controlTokenFile }: HollowNodesValues): readonly string[] {
  if (controlTokenFile !== undefined && !existsSync(controlTokenFile)) {
    return [`--control-token-file: got ${JSON.stringify(controlTokenFile)}; accepted: a file that can be read`];
  }
  if (controlAddress === 'off' || controlTokenFile !== undefined || isLoopback(controlAddress)) return [];
  const given = JSON.stringify(controlAddress.host);
  return [
    `--control-address: got the host ${given}; accepted: one of the loopback, as 127.0.0.1, or any with --control-token-file`,
  ];
}

function shutdownProblems(values: HollowNodesValues): readonly string[] {
  const { shutdownGracePeriod, shutdownGracePeriodCriticalPods } = values;
  if (shutdownGracePeriodCriticalPods <= shutdownGracePeriod) return [];
  const given = formatGoDuration(shutdownGracePeriodCriticalPods);
  return [`--shutdown-grace-period-critical-pods: got ${given}; accepted: no more than --shutdown-grace-period`];
}

/** Undefined, with the reason printed, when the kubeconfig leads nowhere. */
async function connect(values: HollowNodesValues, io: CommandIo): Promise<Connection | undefined> {
  const { kubeconfig, context } = values;
  try {
    return await loadConnection({
      logger: loggerOf(values),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    io.stderr(`nlc hollow-nodes: no way to the API server: ${error.message}\n`);
    return undefined;
  }
}

/** The nodes that the flags describe, dealt to the zones in turn. */
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

function loggerOf(values: HollowNodesValues): PinoLogger {
  return PinoLogger.create({ format: logFormat(values.logFormat), verbosity: values.v });
}
