// The comparison by a recorded cluster, which needs the simulator: loaded for `--trace` only.
import { escapeJsonControls, escapeLine } from '../../machinery/api/format-safe-text.ts';
import { describeResult } from '../../simulator/scenario/describe-result.ts';
import { runScenario } from '../../simulator/scenario/run-scenario.ts';
import { type CommandIo, exitFailure, exitSuccess, usageError } from '../io/command-io.ts';
import type { settingsOf } from '../simulate/scenario-settings.ts';
import { describeMissingLabels, selectMissingLabels } from '../simulate/select-missing-labels.ts';
import { simulationRuntime } from '../simulate/simulation-runtime.ts';
import { readTraceScenario } from '../simulate/trace-file.ts';

type Settings = Extract<ReturnType<typeof settingsOf>, { readonly value: unknown }>['value'];

/** The configuration in force, and the new one. */
export interface ConfigPair {
  readonly before: Settings;
  readonly after: Settings;
}

interface Output {
  readonly json: boolean;
  readonly io: CommandIo;
}

/** Prints what the recorded cluster does under both configurations, and returns the exit code. */
export async function replayBoth(trace: string, { before, after }: ConfigPair, { json, io }: Output): Promise<number> {
  const read = readTraceScenario(trace);
  if ('problems' in read) return usageError(io, 'whatif', read.problems, 'arguments');
  const { scenario, header } = read.value;
  const missing = selectMissingLabels([...before.config.policies, ...after.config.policies], header);
  const first = await runScenario(scenario, before, simulationRuntime);
  if (io.signal.aborted) return exitFailure;
  const second = await runScenario(scenario, after, simulationRuntime);
  if (json) {
    const result = { missingLabels: missing, before: first, after: second };
    io.stdout(`${escapeJsonControls(JSON.stringify(result, undefined, 2))}\n`);
    return exitSuccess;
  }
  const warnings = describeMissingLabels(missing).map((line) => `${escapeLine(line)}\n`);
  io.stdout([describeResult(first, second), ...warnings].join(''));
  return exitSuccess;
}
