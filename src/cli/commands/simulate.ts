import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { escapeJsonControls } from '../../machinery/api/format-safe-text.ts';
import type { TraceHeader } from '../../simulator/recording/cluster-trace.ts';
import { describeResult } from '../../simulator/scenario/describe-result.ts';
import { NodesNotReady, runScenario, type ScenarioSettings } from '../../simulator/scenario/run-scenario.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { StateRecorder } from '../../simulator/scenario/state-recorder.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, exitFailure, exitSuccess, printNote, usageError } from '../io/command-io.ts';
import { type Read, readYamlText } from '../../machinery/yaml/yaml-text.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { ownVersion } from '../io/version.ts';
import { buildReport, type RecordedRun } from '../simulate/build-report.ts';
import { simulateFlags } from './flags.ts';
import { reportPage } from '../simulate/report-page.ts';
import { type ReadScenario, readScenario } from '../simulate/scenario-schema.ts';
import { settingsOf } from '../simulate/scenario-settings.ts';
import { describeMissingLabels, selectMissingLabels } from '../simulate/select-missing-labels.ts';
import { simulationRuntime } from '../simulate/simulation-runtime.ts';
import { readText, readTraceScenario } from '../simulate/trace-file.ts';

/** `nlc simulate SCENARIO`: what the controller does in a scenario, under one configuration or two. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { files, set, against, others } = sortArguments(argv);
  const flags = readFlags(others, simulateFlags);
  const trace = 'values' in flags ? flags.values.trace : undefined;
  const read = readSource(files, trace);
  const unwritable = 'values' in flags ? outputProblems(flags.values) : [];
  if ('problems' in flags || 'problems' in read || unwritable.length > 0) {
    return usageError(io, 'simulate', [...problemsIn(flags), ...problemsIn(read), ...unwritable], 'arguments');
  }
  return simulate(read.value, { set, against }, flags.values, io);
}

async function simulate(
  { scenario, flags: own, header }: ReadScenario & { readonly header?: TraceHeader },
  { set, against }: { readonly set: readonly string[]; readonly against: readonly string[] },
  options: FlagValues<typeof simulateFlags>,
  io: CommandIo,
): Promise<number> {
  const first = settingsOf([...own, ...set]);
  const second = settingsOf([...own, ...set, ...against]);
  if ('problems' in first || 'problems' in second) {
    return usageError(io, 'simulate', [...new Set([...problemsIn(first), ...problemsIn(second)])]);
  }
  const policies = [first.value, second.value].flatMap(({ config }) => config.policies);
  for (const line of header === undefined ? [] : describeMissingLabels(selectMissingLabels(policies, header)))
    printNote(io, 'simulate', `warning: ${line}`);
  const seeded = { ...scenario, seed: options.seed ?? scenario.seed };
  return report(seeded, against.length === 0 ? [first.value] : [first.value, second.value], options, io);
}

/** What cannot be written is said before the simulation runs, not after it. */
function outputProblems(options: FlagValues<typeof simulateFlags>): readonly string[] {
  return (['html', 'out'] as const).flatMap((name) => {
    const path = options[name];
    const why = path === undefined ? undefined : whyUnwritable(path);
    return why === undefined
      ? []
      : [`--${name}: must be a file that can be written (got ${JSON.stringify(path)}: ${why})`];
  });
}

function whyUnwritable(path: string): string | undefined {
  try {
    const stored = statSync(path, { throwIfNoEntry: false });
    if (stored?.isDirectory()) return 'a folder';
    accessSync(stored === undefined ? dirname(path) : path, constants.W_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function problemsIn(read: object): readonly string[] {
  return 'problems' in read && Array.isArray(read.problems) ? read.problems : [];
}

async function report(
  scenario: Scenario,
  settings: readonly ScenarioSettings[],
  options: FlagValues<typeof simulateFlags>,
  io: CommandIo,
): Promise<number> {
  const { html, out, output } = options;
  const isRecorded = html !== undefined || output === 'html';
  const runs = await runAll(scenario, settings, isRecorded, io.signal).catch(errorOfSettings);
  if (runs instanceof NodesNotReady) return usageError(io, 'simulate', [runs.message]);
  const [first, ...others] = runs;
  if (first === undefined || io.signal.aborted) return exitFailure;
  const page = isRecorded ? await reportPage(buildReport(scenario, [first, ...others], ownVersion())) : '';
  const text = output === 'html' ? page : format(output, first, others[0]);
  const files = [
    { path: html, content: page },
    { path: out, content: text },
  ];
  if (!writeFiles(files, io)) return exitFailure;
  if (out === undefined) io.stdout(text);
  return exitSuccess;
}

function errorOfSettings(error: unknown): NodesNotReady {
  if (error instanceof NodesNotReady) return error;
  throw error;
}

async function runAll(
  scenario: Scenario,
  settings: readonly ScenarioSettings[],
  isRecorded: boolean,
  signal: AbortSignal,
): Promise<readonly RecordedRun[]> {
  const runs: RecordedRun[] = [];
  for (const each of settings) {
    if (signal.aborted) break;
    const recorder = new StateRecorder();
    const result = await runScenario(scenario, each, simulationRuntime, isRecorded ? recorder : undefined);
    runs.push({ result, recording: recorder.recording() });
  }
  return runs;
}

/** False, with a message, if one of them cannot be written. */
function writeFiles(
  files: readonly { readonly path: string | undefined; readonly content: string }[],
  io: CommandIo,
): boolean {
  try {
    for (const { path, content } of files) if (path !== undefined) writeFileSync(path, content);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    printNote(io, 'simulate', error.message);
    return false;
  }
}

function format(output: 'text' | 'json', { result }: RecordedRun, against: RecordedRun | undefined): string {
  if (output === 'text') return describeResult(result, against?.result);
  const values = against === undefined ? result : { a: result, b: against.result };
  return `${escapeJsonControls(JSON.stringify(values, undefined, 2))}\n`;
}

/** `--set` and `--against` may be repeated, and the scenario is the only argument without dashes. */
function sortArguments(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    strict: false,
    options: {
      set: { type: 'string', multiple: true },
      against: { type: 'string', multiple: true },
      output: { type: 'string' },
      out: { type: 'string' },
      html: { type: 'string' },
      seed: { type: 'string' },
      trace: { type: 'string' },
    },
  });
  const { set = [], against = [], ...others } = values;
  return {
    files: positionals,
    set: set.map((setting) => `--${String(setting)}`),
    against: against.map((setting) => `--${String(setting)}`),
    others: Object.entries(others).map(([name, value]) => `--${name}=${String(value)}`),
  };
}

interface Source extends ReadScenario {
  /** Header of the trace, if it is one. */
  readonly header?: TraceHeader;
}

/** A scenario file, or a recorded trace. */
function readSource(files: readonly string[], trace: string | undefined): Read<Source> {
  const path = trace ?? files[0];
  if (path === undefined || files.length + (trace === undefined ? 0 : 1) !== 1) {
    return { problems: ['must name one scenario file, or --trace=FILE'] };
  }
  if (trace !== undefined) {
    const read = readTraceScenario(path);
    return 'problems' in read ? read : { value: { ...read.value, flags: [] } };
  }
  const text = readText(path);
  return 'problems' in text ? text : parseScenario(path, text.value);
}

function parseScenario(path: string, text: string): Read<ReadScenario> {
  const document = readYamlText(path, text);
  if ('problems' in document) return document;
  const read = readScenario(document.value);
  return 'problems' in read ? { problems: read.problems.map((problem) => `${path}: ${problem}`) } : read;
}
