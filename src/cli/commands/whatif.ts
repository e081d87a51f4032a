import { PinoLogger } from '../../machinery/adapters/pino-logger.ts';
import { escapeJsonControls } from '../../machinery/api/format-safe-text.ts';
import { connect } from './connect.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { type CommandIo, exitFailure, exitSuccess, printNote, usageError } from '../io/command-io.ts';
import type { Read } from '../../machinery/yaml/yaml-text.ts';
import { policiesAt } from '../../policy/schedules/scheduled-policies.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { buildPolicyWarnings } from '../../policy/schema/build-policy-warnings.ts';
import { settingsOf } from '../simulate/scenario-settings.ts';
import { buildPreview, type PreviewOptions } from '../whatif/cluster-preview.ts';
import { comparePreviews } from '../whatif/compare-previews.ts';
import { describeWhatif } from '../whatif/describe-whatif.ts';
import { whatifFlags } from './flags.ts';
import { readCluster } from '../whatif/read-cluster.ts';
import type { ConfigPair } from '../whatif/replay-both.ts';

type WhatifValues = FlagValues<typeof whatifFlags>;

/** `nlc whatif --policies=FILE`: what would change if this config file came into force. Writes nothing to the cluster. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readFlags(argv, whatifFlags);
  if ('problems' in read) return usageError(io, 'whatif', read.problems);
  const { values } = read;
  const timeProblems = checkTime(values);
  if (timeProblems.length > 0) return usageError(io, 'whatif', timeProblems);
  const both = readBoth(values);
  if ('problems' in both) return usageError(io, 'whatif', both.problems, 'configuration');
  for (const warning of buildPolicyWarnings(both.value.after.config.policies))
    printNote(io, 'whatif', `warning: ${warning}`);
  if (values.trace === undefined) return compare(both.value, values, io);
  // The simulator is loaded for a trace only.
  const { trace, output } = values;
  return import('../whatif/replay-both.ts').then(({ replayBoth }) =>
    replayBoth(trace, both.value, { json: output === 'json', io }),
  );
}

function readBoth({ policies, config }: WhatifValues): Read<ConfigPair> {
  if (policies === undefined) return { problems: ['--policies: value required: must be a config file'] };
  const [before, after] = [
    settingsOf(config === undefined ? [] : [`--config=${config}`]),
    settingsOf([`--config=${policies}`]),
  ];
  if ('problems' in before || 'problems' in after) {
    return {
      problems: [...('problems' in before ? before.problems : []), ...('problems' in after ? after.problems : [])],
    };
  }
  return { value: { before: before.value, after: after.value } };
}

function checkTime({ at, trace }: WhatifValues): readonly string[] {
  if (at === undefined) return [];
  return [
    ...(parseTimestamp(at) === undefined
      ? [`--at: must be an RFC 3339 time, such as 2026-11-27T08:00:00Z (got ${JSON.stringify(at)})`]
      : []),
    ...(trace === undefined ? [] : ['--at: must be absent with --trace, which has its own times']),
  ];
}

/** The options with the windows of another time, as if it were now. */
function optionsAt(config: ConfigPair['before']['config'], wallMs: number, nowMs: number): PreviewOptions {
  const policies = policiesAt(config.policies, wallMs).policies.map((policy) => {
    const { windows, modeWindow } = policy;
    const moved = <T extends { readonly untilMs: number }>(window: T): T => {
      return { ...window, untilMs: window.untilMs + nowMs - wallMs };
    };
    return { ...policy, windows: windows?.map(moved), modeWindow: modeWindow && moved(modeWindow) };
  });
  return { ...config, policies, podGc: config.controllers.podGc ? config : undefined };
}

async function compare({ before, after }: ConfigPair, values: WhatifValues, io: CommandIo): Promise<number> {
  const logger = PinoLogger.create({ format: values.logFormat, verbosity: values.v });
  const connection = await connect({ command: 'whatif', ...values, logger }, io);
  if (connection === undefined) return exitFailure;
  const namespaceAutonomy = before.config.namespaceAutonomy || after.config.namespaceAutonomy;
  const read = await readCluster(connection, { logger, signal: io.signal, namespaceAutonomy });
  if ('missing' in read) {
    printNote(io, 'whatif', `cannot read ${read.missing.join(', ')}`);
    return exitFailure;
  }
  const { state } = read;
  const wallMs = parseTimestamp(values.at) ?? state.atMs;
  const inForce = optionsAt(before.config, wallMs, state.atMs);
  const wanted = optionsAt(after.config, wallMs, state.atMs);
  const previews = [buildPreview(state, inForce), buildPreview(state, wanted, inForce)] as const;
  const report = comparePreviews(...previews, { atMs: wallMs, all: values.all });
  io.stdout(
    values.output === 'json' ? `${escapeJsonControls(JSON.stringify(report, undefined, 2))}\n` : describeWhatif(report),
  );
  return exitSuccess;
}
