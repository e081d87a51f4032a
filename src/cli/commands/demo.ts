import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PinoLogger } from '../../adapters/pino-logger.ts';
import { SystemClock } from '../../adapters/system-clock.ts';
import { SystemRandom } from '../../adapters/system-random.ts';
import type { Decision } from '../../controller/decisions.ts';
import { type CommandIo, exitDone, exitFailed, refuse } from '../command-io.ts';
import { type ControllerConfig, parseControllerConfig } from '../controller-config.ts';
import { demoControllerOptions } from '../demo/cast.ts';
import { JsonNarrator, type Narrator, TextNarrator } from '../demo/narrator.ts';
import { play } from '../demo/play.ts';
import { Rehearsal } from '../demo/rehearsal.ts';
import { story, type World } from '../demo/story.ts';
import { demoFlags } from '../demo-flags.ts';
import type { FlagValues } from '../flag-definition.ts';
import { readValues } from '../flag-schema.ts';
import { parseFlags } from '../flags.ts';
import { logFormat } from '../shared-flags.ts';

type DemoOptions = FlagValues<typeof demoFlags>;

/** `nlc demo`: everything in one process on loopback, and the story of an outage told while it happens. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseFlags(argv, demoFlags);
  const read = readValues(demoFlags, flags.inputs);
  const problems = [...flags.problems, ...read.problems];
  if (problems.length > 0) return refuse(io, 'demo', problems);
  const folder = mkdtempSync(join(tmpdir(), 'nlc-demo-'));
  try {
    return await perform(read.values, io, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function perform(options: DemoOptions, io: CommandIo, folder: string): Promise<number> {
  const clock = new SystemClock();
  const startedAtMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startedAtMs;
  const narrator =
    options.output === 'json' ? new JsonNarrator(io.stdout, elapsedMs) : new TextNarrator(io.stdout, elapsedMs);
  // The narrator tells what matters; the log is for those who ask.
  const quiet = options.v === 0 ? { sink: { write: () => {} } } : {};
  const logger = PinoLogger.create({ format: logFormat(options.logFormat), verbosity: options.v, ...quiet });
  const writeKubeconfig = (text: string): string => {
    const file = options.kubeconfigOut ?? join(folder, 'kubeconfig');
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const random = new SystemRandom();
  const rehearsal = await Rehearsal.build({
    config: demoConfig(),
    port: options.port,
    clock,
    random,
    logger,
    writeKubeconfig,
  });
  try {
    return await tell({ rehearsal, narrator, clock, io, once: options.once });
  } finally {
    await rehearsal.stop();
  }
}

interface Telling {
  readonly rehearsal: Rehearsal;
  readonly narrator: Narrator;
  readonly clock: SystemClock;
  readonly io: CommandIo;
  readonly once: boolean;
}

async function tell({ rehearsal, narrator, clock, io, once }: Telling): Promise<number> {
  const { signal } = io;
  const decisions: Decision[] = [];
  rehearsal.controller.lifecycle.stages.decisions.onDecision((noted) => {
    decisions.push(noted.decision);
    narrator.decision(noted);
  });
  narrator.say(`an API server on ${rehearsal.server.url}; follow the story in another terminal:`);
  narrator.say(`  kubectl --kubeconfig ${rehearsal.kubeconfigFile} get nodes -w`);
  narrator.say('sixty hollow nodes register ...');
  await rehearsal.start(signal);
  const world: World = { rehearsal, decisions, notes: new Map(), nowMs: () => clock.monotonicMs() };
  const outcomes = await play(story, { world, narrator, clock, signal });
  narrator.end(outcomes);
  const isMet = !signal.aborted && outcomes.every(({ met }) => met);
  if (!once && !signal.aborted) await goOn(rehearsal, narrator, clock, signal);
  return isMet || (!once && signal.aborted) ? exitDone : exitFailed;
}

const flushEveryMs = 500;

/** After the story everything goes on running, for whoever wants to look, until told to stop. */
async function goOn(rehearsal: Rehearsal, narrator: Narrator, clock: SystemClock, signal: AbortSignal): Promise<void> {
  const kubectl = `kubectl --kubeconfig ${rehearsal.kubeconfigFile}`;
  narrator.say('everything goes on running; try, and end it with Ctrl-C:');
  for (const line of [
    'get nodes',
    'get pods -A -o wide',
    'describe node a-07',
    'get events -A',
    'cordon b-01',
    'taint node c-01 demo=x:NoExecute',
  ])
    narrator.say(`  ${kubectl} ${line}`);
  while (!signal.aborted) {
    await clock.sleep(flushEveryMs, signal);
    narrator.flush();
  }
}

/** As `nlc controller` would read it, with the story's times and without an election: there is nobody else. */
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
  return { ...parsed.config, controller: demoControllerOptions };
}
