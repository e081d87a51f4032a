import { readFileSync } from 'node:fs';
import { escapeJsonControls } from '../../machinery/api/format-safe-text.ts';
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import type { FlagValues } from '../flags/flag-definition.ts';
import { readFlags } from '../flags/flag-schema.ts';
import { takeRepeatedFlag } from '../flags/take-operand.ts';
import { type CommandIo, exitFailure, exitSuccess, printNote, usageError } from '../io/command-io.ts';
import { describeMetrics, describeTrace } from '../report/describe-report.ts';
import { Prometheus } from '../report/prometheus.ts';
import { reportMetrics, reportTrace } from '../report/report.ts';
import { readTraceFile } from '../simulate/trace-file.ts';
import { reportFlags } from './flags.ts';

type ReportValues = FlagValues<typeof reportFlags>;

const gracePeriodsMax = 20;
/** The default, and what others might choose. */
const gracePeriodsDefault = [20_000, 30_000, 40_000, 50_000, 60_000, 90_000, 120_000];

/** `nlc report`: how faults went, and what other grace periods would have made of them. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  const { values: given, others } = takeRepeatedFlag(argv, 'grace-period');
  const read = readFlags(others, reportFlags);
  const graces = readGracePeriods(given);
  const problems = [...('problems' in read ? read.problems : validate(read.values, given)), ...graces.problems];
  if ('problems' in read || problems.length > 0) return usageError(io, 'report', problems);
  const { values } = read;
  return values.trace === undefined ? ofPrometheus(values, io) : ofTrace(values.trace, graces.ms, values, io);
}

function readGracePeriods(given: readonly string[]): {
  readonly ms: readonly number[];
  readonly problems: readonly string[];
} {
  const reads = given.map((text) => readFlags([`--grace-period=${text}`], reportFlags));
  const tooMany = `--grace-period: must be given at most ${gracePeriodsMax} times (got ${given.length})`;
  const ms = reads.flatMap((read) => ('values' in read ? (read.values.gracePeriodMs ?? []) : []));
  return {
    ms: [...new Set(ms.length === 0 ? gracePeriodsDefault : ms)].sort((a, b) => a - b),
    problems: [
      ...reads.flatMap((read) => ('problems' in read ? read.problems : [])),
      ...(given.length > gracePeriodsMax ? [tooMany] : []),
    ],
  };
}

function validate(
  { trace, prometheus, selector, bearerTokenFile }: ReportValues,
  graces: readonly string[],
): readonly string[] {
  if ((trace === undefined) === (prometheus === undefined))
    return ['--prometheus: one of --prometheus and --trace is required, and not both'];
  if (prometheus !== undefined && !/^https?:\/\/[^/]/u.test(prometheus))
    return [`--prometheus: must be an http or https URL (got ${JSON.stringify(prometheus)})`];
  const onlyPrometheus = { selector, 'bearer-token-file': bearerTokenFile };
  const misplaced = Object.entries(onlyPrometheus).filter(([, value]) => value !== undefined && trace !== undefined);
  return [
    ...misplaced.map(([name]) => `--${name}: must not be set with --trace`),
    ...(graces.length > 0 && prometheus !== undefined ? ['--grace-period: must not be set with --prometheus'] : []),
  ];
}

function ofTrace(path: string, graceMs: readonly number[], { output }: ReportValues, io: CommandIo): number {
  const read = readTraceFile(path);
  if ('problems' in read) {
    for (const problem of read.problems) printNote(io, 'report', problem);
    return exitFailure;
  }
  const { gapSeconds } = read.value.header;
  const short = graceMs.filter((ms) => ms < gapSeconds * 1_000);
  if (short.length > 0)
    printNote(
      io,
      'report',
      `warning: silences up to ${gapSeconds} s were not recorded: shorter grace periods find more`,
    );
  const report = reportTrace(
    read.value,
    graceMs.map((ms) => ms / 1_000),
  );
  return print(output, report, describeTrace(report), io);
}

async function ofPrometheus(values: ReportValues, io: CommandIo): Promise<number> {
  const { prometheus = '', sinceMs, selector = '', bearerTokenFile, output } = values;
  try {
    const token = bearerTokenFile === undefined ? undefined : readFileSync(bearerTokenFile, 'utf8').trim();
    const since = `${Math.ceil(sinceMs / 1_000)}s`;
    const server = new Prometheus(prometheus, token);
    const report = await reportMetrics(server, { source: prometheus, selector, since }, io.signal);
    const named = { ...report, since: formatGoDuration(sinceMs) };
    return print(output, named, describeMetrics(named), io);
  } catch (error) {
    printNote(io, 'report', error instanceof Error ? error.message : String(error));
    return exitFailure;
  }
}

function print(output: string, report: object, text: string, io: CommandIo): number {
  io.stdout(output === 'json' ? `${escapeJsonControls(JSON.stringify(report, undefined, 2))}\n` : text);
  return exitSuccess;
}
