// The text of `nlc report`.
import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import { escapeLine } from '../../machinery/api/format-safe-text.ts';
import { formatColumns } from '../io/format-columns.ts';
import type { GraceOutcome } from './assess-silences.ts';
import type { MetricsReport, TraceReport } from './report.ts';

type Row = readonly string[];

export function describeMetrics(report: MetricsReport): string {
  const { faults, recovered, warnings, detections } = report;
  const rows = faults.map(({ stage, cause, policy, count, medianSeconds, ninetySeconds }) => {
    return [stage, cause, policy, String(count), seconds(medianSeconds), seconds(ninetySeconds)];
  });
  const none = 'no fault was counted';
  return [
    `The last ${report.since}, by ${report.source}`,
    '',
    rows.length === 0 ? none : tableOf(['stage', 'cause', 'policy', 'faults', 'half within', '90 % within'], rows),
    '',
    `False positives: ${recovered.alive} of ${recovered.alive + recovered.restarted + recovered.unknown} nodes that recovered had not restarted.`,
    ...report.lost.map(
      ({ cause, policy, seconds: lost }) =>
        `Time of nodes without heartbeats or not Ready, ${cause}, policy ${policy}: ${seconds(lost)}`,
    ),
    ...warnings.map(({ policy, right, wrong }) => `Early warnings of policy ${policy}: ${right} right, ${wrong} wrong`),
    ...detections.map(({ policy, right, wrong, savedSeconds }) => {
      return `Early detections of policy ${policy}: ${right} right, which saved ${seconds(savedSeconds)} in all, ${wrong} wrong`;
    }),
    '',
  ]
    .map((line) => (line.includes('\n') ? line : escapeLine(line)))
    .join('\n');
}

export function describeTrace(report: TraceReport): string {
  const { startedAt, seconds: lasted, nodes, silences, gapSeconds, graces } = report;
  const head = [
    'grace period',
    'Unknown',
    'alive',
    'restarted',
    'not back',
    'pods evicted for nothing',
    'until failed nodes were Unknown',
  ];
  return [
    `Recorded from ${startedAt} on, for ${seconds(lasted)}: ${nodes} nodes, ${silences.length} silences longer than ${seconds(gapSeconds)}`,
    '',
    tableOf(head, graces.map(graceRow)),
    '',
    'alive: the node sent a heartbeat again in the same boot, so Unknown would have been wrong. Pods are evicted when their tolerations expire.',
    '',
  ].join('\n');
}

function graceRow({ graceSeconds, unknown, podsForNothing, waitedSeconds }: GraceOutcome): Row {
  const { alive, restarted, 'not-back': notBack } = unknown;
  const counts = [alive + restarted + notBack, alive, restarted, notBack, podsForNothing].map(String);
  return [seconds(graceSeconds), ...counts, seconds(waitedSeconds)];
}

function seconds(value: number): string {
  return formatGoDuration(Math.round(value) * 1_000);
}

function tableOf(head: Row, rows: readonly Row[]): string {
  return formatColumns([head, ...rows].map((row) => row.map(escapeLine))).join('\n');
}
