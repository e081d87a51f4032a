import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PinoLogger } from '../../machinery/adapters/pino-logger.ts';
import { SystemClock } from '../../machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../machinery/adapters/system-random.ts';
import type { Decision } from '../../controller/model/decisions.ts';
import { startApiServer } from '../../hollow-cluster/apiserver/http/api-server.ts';
import { type CommandIo, exitSuccess, exitFailure, usageError } from '../io/command-io.ts';
import { type ControllerConfig, parseControllerConfig } from '../controller/config.ts';
import { defaultTolerationSeconds, demoControllerOptions } from '../simulation/demo/cluster.ts';
import { JsonReporter, type Reporter, TextReporter } from '../simulation/demo/reporter.ts';
import { runScenario } from '../simulation/demo/runner.ts';
import { type DemoApiServer, DemoEnvironment } from '../simulation/demo/environment.ts';
import { servedPolicies } from '../simulation/policy-resource.ts';
import { controlPlaneProblem, ControlPlanePrograms } from '../simulation/programs/control-plane-programs.ts';
import { scenario, type World } from '../simulation/demo/scenario.ts';
import { workloadScenario } from '../simulation/demo/workload-scenario.ts';
import { Workloads } from '../simulation/demo/workloads.ts';
import { Guard } from '../simulation/programs/guard.ts';
import { findPrograms } from '../simulation/programs/program-finder.ts';
import {
  type WorkloadFiles,
  workloadPrograms,
  WorkloadPrograms,
  programsMissing,
} from '../simulation/programs/workload-programs.ts';
import { DemoActions, noActions } from '../simulation/demo/demo-actions.ts';
import { type DemoDashboard, startDemoDashboard } from '../simulation/demo/demo-dashboard.ts';
import { demoFlags } from '../simulation/demo/flags.ts';
import { ScenarioControl } from '../simulation/demo/scenario-control.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { writePrivateFile } from '../io/write-private-file.ts';

type DemoOptions = FlagValues<typeof demoFlags>;

/** `nlc demo`: runs API server, hollow nodes and controller in one process on loopback, and reports a simulated outage. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, demoFlags);
  if ('problems' in read) return usageError(io, 'demo', read.problems);
  const { controlPlane, withWorkloads } = read.values;
  const problem = controlPlane === undefined ? undefined : controlPlaneProblem(controlPlane);
  if (problem !== undefined)
    return usageError(io, 'demo', [`--control-plane: must be a folder with etcd and kube-apiserver (${problem})`]);
  const files = withWorkloads ? findWorkloadPrograms(controlPlane) : 'none';
  if (files === undefined) {
    io.stderr(`nlc demo: --with-workloads: ${programsMissing()}\n`);
    return exitFailure;
  }
  const folder = mkdtempSync(join(tmpdir(), 'nlc-demo-'));
  // Removes the folder, with its kubeconfig, also when this process is killed.
  const guard = new Guard(folder);
  try {
    return await runDemo({ options: read.values, io, folder, files });
  } finally {
    await guard.dismiss();
  }
}

/** Programs of workloads; those beside a given control plane come first. */
function findWorkloadPrograms(controlPlane: string | undefined): WorkloadFiles | undefined {
  const beside =
    controlPlane === undefined ? undefined : findPrograms(workloadPrograms, { KUBEBUILDER_ASSETS: controlPlane });
  return beside ?? findPrograms(workloadPrograms);
}

interface DemoStart {
  readonly options: DemoOptions;
  readonly io: CommandIo;
  /** For files of this run; the caller removes it. */
  readonly folder: string;
  readonly files: WorkloadFiles | 'none';
}

async function runDemo({ options, io, folder, files }: DemoStart): Promise<number> {
  const clock = new SystemClock();
  const startedAtMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startedAtMs;
  const reporter =
    options.output === 'json' ? new JsonReporter(io.stdout, elapsedMs) : new TextReporter(io.stdout, elapsedMs);
  // The reporter prints the decisions; the log is off unless -v is set.
  const quiet = options.v === 0 ? { sink: { write: () => {} } } : {};
  const logger = PinoLogger.create({ format: options.logFormat, verbosity: options.v, ...quiet });
  const writeKubeconfig = (text: string): string => {
    const file = options.kubeconfigOut ?? join(folder, 'kubeconfig');
    writePrivateFile(file, text);
    return file;
  };
  const random = new SystemRandom();
  const server = await startServer({ options, io, folder, clock, random, logger, reporter });
  if (server === undefined) return io.signal.aborted && !options.once ? exitSuccess : exitFailure;
  const environment = await DemoEnvironment.build({
    config: demoConfig(),
    replicas: options.replicas,
    server,
    pods: files === 'none',
    clock,
    random,
    logger,
    writeKubeconfig,
  });
  const { once, dashboardPort: port } = options;
  const control = new ScenarioControl(io.signal);
  const actions = once ? noActions : new DemoActions({ environment, scenario: control });
  try {
    const dashboard = await serveDashboard({ environment, actions, port, clock, logger }, io);
    if (dashboard === undefined) return exitFailure;
    try {
      const run = { environment, control, dashboard, reporter, clock, io, once };
      return await (files === 'none' ? reportScenario(run) : reportWorkloads(run, files, join(folder, 'programs')));
    } finally {
      await dashboard.close();
    }
  } finally {
    await environment.stop();
  }
}

interface ServerStart extends Omit<DemoStart, 'files'> {
  readonly clock: SystemClock;
  readonly random: SystemRandom;
  readonly logger: PinoLogger;
  readonly reporter: Reporter;
}

/** Undefined if it does not start, with a message, or if the demo ends meanwhile. */
async function startServer({
  options,
  io,
  reporter,
  folder,
  ...rest
}: ServerStart): Promise<DemoApiServer | undefined> {
  const { controlPlane, port } = options;
  if (controlPlane !== undefined) reporter.say(`starting etcd and kube-apiserver of ${controlPlane} ...`);
  const common = { ...rest, port, defaultTolerationSeconds };
  const server = await (controlPlane === undefined
    ? startApiServer({ ...common, customResources: [servedPolicies()] })
    : startControlPlane(controlPlane, { ...common, folder: join(folder, 'control-plane') }, io));
  if (server instanceof ControlPlanePrograms)
    for (const { file, pid } of server.running) reporter.say(`running ${file} (process ${pid})`);
  if (server === undefined || !io.signal.aborted) return server;
  await server.close();
  return undefined;
}

/** Undefined, with a message, for an error: it is about the programs of the user. */
async function startControlPlane(
  binaries: string,
  options: Omit<Parameters<typeof ControlPlanePrograms.start>[0], 'binaries' | 'signal'>,
  io: CommandIo,
): Promise<ControlPlanePrograms | undefined> {
  try {
    return await ControlPlanePrograms.start({ ...options, binaries, signal: io.signal });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    io.stderr(`nlc demo: --control-plane: ${error.message}\n`);
    return undefined;
  }
}

/** Undefined, with a message, if it cannot listen on its port. */
async function serveDashboard(
  options: Parameters<typeof startDemoDashboard>[0],
  io: CommandIo,
): Promise<DemoDashboard | undefined> {
  try {
    return await startDemoDashboard(options);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    io.stderr(`nlc demo: --dashboard-port: ${error.message}\n`);
    return undefined;
  }
}

/** With kube-scheduler and kube-controller-manager beside the demo. */
async function reportWorkloads(run: DemoRun, files: WorkloadFiles, folder: string): Promise<number> {
  const { environment, reporter, clock } = run;
  const { kubeconfigFile } = environment;
  const programs = await WorkloadPrograms.start({ files, kubeconfigFile, folder, clock });
  try {
    for (const { file, pid } of programs.running) reporter.say(`running ${file} (process ${pid})`);
    return await reportScenario({ ...run, workloads: new Workloads(environment, programs) });
  } finally {
    await programs.stop();
  }
}

interface DemoRun {
  readonly environment: DemoEnvironment;
  readonly control: ScenarioControl;
  readonly dashboard: DemoDashboard;
  readonly reporter: Reporter;
  readonly clock: SystemClock;
  readonly io: CommandIo;
  readonly once: boolean;
  /** Default: the scenario without workloads. */
  readonly workloads?: Workloads;
}

async function reportScenario(run: DemoRun): Promise<number> {
  const { environment, control, dashboard, reporter, clock, io, once, workloads } = run;
  const { signal } = io;
  const decisions: Decision[] = [];
  environment.onDecision((noted) => {
    if (control.phase !== 'ended') decisions.push(noted.decision);
    reporter.decision(noted);
  });
  reporter.say(`dashboard: ${dashboard.url}${once ? '' : ' (an action there ends the scenario)'}`);
  reporter.say(`API server listening on ${environment.server.url}; to watch in another terminal:`);
  reporter.say(`  kubectl --kubeconfig ${environment.kubeconfigFile} get nodes -w`);
  reporter.say('registering 60 hollow nodes ...');
  await environment.start(signal);
  const world: World = { environment, decisions, notes: new Map(), nowMs: () => clock.monotonicMs() };
  control.begin();
  const outcomes = await runScenario(workloads === undefined ? scenario : workloadScenario(workloads), {
    world,
    reporter,
    clock,
    signal: control.signal,
  });
  const isComplete = !control.signal.aborted;
  control.end();
  reporter.end(outcomes);
  if (!isComplete) reporter.say('the scenario ended early: expectations that are not listed were not checked');
  const isMet = isComplete && outcomes.every(({ met }) => met);
  if (!once && !signal.aborted) await keepRunning(run);
  return isMet || (!once && signal.aborted) ? exitSuccess : exitFailure;
}

const flushEveryMs = 500;
const podCommands: readonly string[] = [
  'get nodes',
  'get pods -A -o wide',
  'describe node a-07',
  'get events -A',
  'cordon b-01',
  'taint node c-01 demo=x:NoExecute',
];
const workloadCommands: readonly string[] = [
  'create deployment web --image=registry.example/web:1 --replicas=20',
  'get pods -o wide --watch',
  'scale deployment web --replicas=40',
  'taint node c-01 demo=x:NoExecute',
  'get deployments,replicasets -A',
];

/** After the scenario everything keeps running until the signal aborts. */
async function keepRunning(run: DemoRun): Promise<void> {
  const { environment, dashboard, reporter, clock, workloads } = run;
  const { signal } = run.io;
  reporter.say(`the cluster keeps running; buttons that act are on the dashboard: ${dashboard.url}`);
  const kubectl = `kubectl --kubeconfig ${environment.kubeconfigFile}`;
  reporter.say('commands to try (press Ctrl-C to stop):');
  for (const line of workloads === undefined ? podCommands : workloadCommands) reporter.say(`  ${kubectl} ${line}`);
  for (let reported = workloads?.problem; !signal.aborted; await clock.sleep(flushEveryMs, signal)) {
    const problem = workloads?.problem;
    if (problem !== undefined && problem !== reported) reporter.say(problem);
    reported = problem;
    reporter.flush();
  }
}

/** The configuration of `nlc controller` with the scenario's shortened times. */
function demoConfig(): ControllerConfig {
  const flags = [
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
  const parsed = parseControllerConfig(flags, () => '');
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return { ...parsed.config, ...demoControllerOptions };
}
