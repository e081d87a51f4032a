import { HttpKubeApi } from '../../adapters/http-kube-api.ts';
import { ConnectionError } from '../../adapters/connection-error.ts';
import { loadConnection } from '../../adapters/kube-connection.ts';
import { PinoLogger } from '../../adapters/pino-logger.ts';
import { PromMeter } from '../../adapters/prom-meter.ts';
import { SystemClock } from '../../adapters/system-clock.ts';
import { SystemRandom } from '../../adapters/system-random.ts';
import { type FleetNode, HollowFleet } from '../../kubelet/fleet.ts';
import { type CommandIo, exitDone, exitFailed, refuse } from '../command-io.ts';
import type { FlagValues } from '../flag-definition.ts';
import { readValues } from '../flag-schema.ts';
import { parseFlags } from '../flags.ts';
import { formatGoDuration } from '../go-duration.ts';
import { hollowNodesFlags } from '../hollow-nodes-flags.ts';
import { logFormat } from '../shared-flags.ts';
import { userAgent } from '../version.ts';

type HollowNodesValues = FlagValues<typeof hollowNodesFlags>;

/** `nlc hollow-nodes`: runs until it is told to stop. The Node objects stay behind and fall silent. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(argv, hollowNodesFlags);
  const read = readValues(hollowNodesFlags, flags.inputs);
  const problems = [...flags.problems, ...read.problems, ...relationProblems(read.values, read.refused)];
  if (problems.length > 0) return refuse(io, 'hollow-nodes', problems);
  const api = await connect(read.values, io);
  if (api === undefined) return exitFailed;
  try {
    await runFleet(read.values, api, io);
  } finally {
    await api.close();
  }
  return exitDone;
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
  return problems;
}

/** Undefined, with the reason printed, when the kubeconfig leads nowhere. */
async function connect(values: HollowNodesValues, io: CommandIo): Promise<HttpKubeApi | undefined> {
  const { kubeconfig, context } = values;
  try {
    const logger = loggerOf(values);
    const connection = await loadConnection({
      logger,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    return new HttpKubeApi({
      connection,
      clock: new SystemClock(),
      logger,
      meter: new PromMeter(),
      userAgent: userAgent('hollow-nodes'),
      fieldManager: 'kubelet',
      qps: values.kubeApiQps,
      burst: values.kubeApiBurst,
    });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    io.stderr(`nlc hollow-nodes: no way to the API server: ${error.message}\n`);
    return undefined;
  }
}

async function runFleet(values: HollowNodesValues, api: HttpKubeApi, io: CommandIo): Promise<void> {
  const fleet = new HollowFleet({
    nodes: fleetNodes(values),
    api,
    clock: new SystemClock(),
    random: new SystemRandom(),
    logger: loggerOf(values),
    profile: {
      leaseDurationSeconds: values.leaseDuration / 1_000,
      nodeStatusUpdateFrequencyMs: values.nodeStatusUpdateFrequency,
      nodeStatusReportFrequencyMs: values.nodeStatusReportFrequency,
    },
  });
  const running = fleet.run(io.signal);
  const told = tellWhenRegistered(fleet, io);
  await Promise.all([running, told]);
}

async function tellWhenRegistered(fleet: HollowFleet, io: CommandIo): Promise<void> {
  await fleet.whenRegistered(io.signal);
  if (!io.signal.aborted) io.stdout(`${fleet.status().registered} nodes are registered; end with Ctrl-C\n`);
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
