import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PinoLogger } from '../../adapters/pino-logger.ts';
import { SystemClock } from '../../adapters/system-clock.ts';
import { SystemRandom } from '../../adapters/system-random.ts';
import type { Decision } from '../../controller/model/decisions.ts';
import { type CommandIo, exitSuccess, exitFailure, usageError } from '../io/command-io.ts';
import { type ControllerConfig, parseControllerConfig } from '../controller/config.ts';
import { demoControllerOptions } from '../demo/cluster.ts';
import { JsonReporter, type Reporter, TextReporter } from '../demo/reporter.ts';
import { runScenario } from '../demo/runner.ts';
import { DemoEnvironment } from '../demo/environment.ts';
import { scenario, type World } from '../demo/scenario.ts';
import { demoFlags } from '../demo/flags.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';

type DemoOptions = FlagValues<typeof demoFlags>;

/** `nlc demo`: runs API server, hollow nodes and controller in one process on loopback, and reports a simulated outage. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, demoFlags);
  if ('problems' in read) return usageError(io, 'demo', read.problems);
  const folder = mkdtempSync(join(tmpdir(), 'nlc-demo-'));
  try {
    return await runDemo(read.values, io, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runDemo(options: DemoOptions, io: CommandIo, folder: string): Promise<number> {
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
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const random = new SystemRandom();
  const environment = await DemoEnvironment.build({
    config: demoConfig(),
    port: options.port,
    clock,
    random,
    logger,
    writeKubeconfig,
  });
  try {
    return await reportScenario({ environment, reporter, clock, io, once: options.once });
  } finally {
    await environment.stop();
  }
}

interface DemoRun {
  readonly environment: DemoEnvironment;
  readonly reporter: Reporter;
  readonly clock: SystemClock;
  readonly io: CommandIo;
  readonly once: boolean;
}

async function reportScenario({ environment, reporter, clock, io, once }: DemoRun): Promise<number> {
  const { signal } = io;
  const decisions: Decision[] = [];
  environment.controller.manager.lifecycle.stages.decisions.onDecision((noted) => {
    decisions.push(noted.decision);
    reporter.decision(noted);
  });
  reporter.say(`API server listening on ${environment.server.url}; to watch in another terminal:`);
  reporter.say(`  kubectl --kubeconfig ${environment.kubeconfigFile} get nodes -w`);
  reporter.say('registering 60 hollow nodes ...');
  await environment.start(signal);
  const world: World = { environment, decisions, notes: new Map(), nowMs: () => clock.monotonicMs() };
  const outcomes = await runScenario(scenario, { world, reporter, clock, signal });
  reporter.end(outcomes);
  const isMet = !signal.aborted && outcomes.every(({ met }) => met);
  if (!once && !signal.aborted) await keepRunning(environment, reporter, clock, signal);
  return isMet || (!once && signal.aborted) ? exitSuccess : exitFailure;
}

const flushEveryMs = 500;

/** After the scenario everything keeps running until the signal aborts. */
async function keepRunning(
  environment: DemoEnvironment,
  reporter: Reporter,
  clock: SystemClock,
  signal: AbortSignal,
): Promise<void> {
  const kubectl = `kubectl --kubeconfig ${environment.kubeconfigFile}`;
  reporter.say('the cluster keeps running; commands to try (press Ctrl-C to stop):');
  for (const line of [
    'get nodes',
    'get pods -A -o wide',
    'describe node a-07',
    'get events -A',
    'cordon b-01',
    'taint node c-01 demo=x:NoExecute',
  ])
    reporter.say(`  ${kubectl} ${line}`);
  while (!signal.aborted) {
    await clock.sleep(flushEveryMs, signal);
    reporter.flush();
  }
}

/** The configuration of `nlc controller` with the scenario's shortened times and without leader election. */
function demoConfig(): ControllerConfig {
  const flags = [
    '--leader-elect=false',
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
  const parsed = parseControllerConfig(flags, () => '');
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return { ...parsed.config, ...demoControllerOptions };
}
