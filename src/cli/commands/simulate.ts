import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';
import type { TraceHeader } from '../../simulator/recording/cluster-trace.ts';
import { describeResult } from '../../simulator/scenario/describe-result.ts';
import { formatTimeline } from '../../simulator/scenario/format-timeline.ts';
import { runScenario, type ScenarioSettings } from '../../simulator/scenario/run-scenario.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import type { ScenarioResult } from '../../simulator/scenario/scenario-result.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, exitFailure, exitSuccess, usageError } from '../io/command-io.ts';
import type { Read } from '../io/document-schema.ts';
import { simulateFlags } from '../simulate/flags.ts';
import { type ReadScenario, readScenario } from '../simulate/scenario-schema.ts';
import { settingsOf } from '../simulate/scenario-settings.ts';
import { describeMissingLabels, selectMissingLabels } from '../simulate/select-missing-labels.ts';
import { surroundings } from '../simulate/surroundings.ts';
import { readText, readTraceScenario } from '../simulate/trace-file.ts';

/** Maximum number of YAML aliases that are expanded, against exponential expansion. */
const aliasesMax = 100;

interface Arguments {
  readonly files: readonly string[];
  readonly set: readonly string[];
  readonly against: readonly string[];
  readonly others: readonly string[];
}

/** `nlc simulate SCENARIO`: what the controller does in a scenario, under one configuration or two. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { files, set, against, others } = sortArguments(argv);
  const flags = readFlags(others, simulateFlags);
  const trace = 'values' in flags ? flags.values.trace : undefined;
  const read = readSource(files, trace);
  if ('problems' in flags || 'problems' in read) {
    return usageError(io, 'simulate', [...problemsIn(flags), ...problemsIn(read)], 'arguments');
  }
  const { scenario, flags: own } = read.value;
  const first = settingsOf([...own, ...set]);
  const second = settingsOf([...own, ...set, ...against]);
  if ('problems' in first || 'problems' in second) {
    return usageError(io, 'simulate', [...new Set([...problemsIn(first), ...problemsIn(second)])]);
  }
  const { header } = read.value;
  const policies = [first.value, second.value].flatMap(({ config }) => config.policies);
  for (const line of header === undefined ? [] : describeMissingLabels(selectMissingLabels(policies, header)))
    io.stderr(`nlc simulate: warning: ${line}\n`);
  const seeded = { ...scenario, seed: flags.values.seed ?? scenario.seed };
  return report(seeded, against.length === 0 ? [first.value] : [first.value, second.value], flags.values, io);
}

function problemsIn(read: object): readonly string[] {
  return 'problems' in read && Array.isArray(read.problems) ? read.problems : [];
}

async function report(
  scenario: Scenario,
  settings: readonly ScenarioSettings[],
  { output, out }: { readonly output: string; readonly out: string | undefined },
  io: CommandIo,
): Promise<number> {
  const results: ScenarioResult[] = [];
  for (const each of settings) {
    if (io.signal.aborted) return exitFailure;
    results.push(await runScenario(scenario, each, surroundings));
  }
  const [result, against] = results;
  if (result === undefined) return exitFailure;
  const text = format(output, result, against);
  if (out === undefined) io.stdout(text);
  else writeFileSync(out, text);
  return exitSuccess;
}

function format(output: string, result: ScenarioResult, against: ScenarioResult | undefined): string {
  if (output === 'html') return formatTimeline(result, against);
  if (output === 'text') return describeResult(result, against);
  return `${JSON.stringify(against === undefined ? result : { a: result, b: against }, undefined, 2)}\n`;
}

/** `--set` and `--against` may be repeated, and the scenario is the only argument without dashes. */
function sortArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    strict: false,
    options: {
      set: { type: 'string', multiple: true },
      against: { type: 'string', multiple: true },
      output: { type: 'string' },
      out: { type: 'string' },
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
  /** Of a trace. */
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
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true, version: '1.2' });
  const errors = document.errors.map(({ message }) => `${path}: invalid YAML: ${message.split('\n')[0]}`);
  if (errors.length > 0) return { problems: errors };
  const read = readScenario(document.toJS({ maxAliasCount: aliasesMax }));
  return 'problems' in read ? { problems: read.problems.map((problem) => `${path}: ${problem}`) } : read;
}
