import type { PrintedRow, Printer, RowCondition } from './column.ts';
import { type Fields, listAt, textAt } from './derive-field.ts';
import { derivePodSummary, type PodSummary } from './derive-pod-summary.ts';
import { ageSince, humanDuration } from './describe-age.ts';
import { ageColumn, column, nameColumn, wideColumn } from './describe-columns.ts';

/** Pods (upstream `printPod`). */
export const podPrinter: Printer = {
  columns: [
    nameColumn,
    column('Ready', 'Containers that are ready, of all that should be.'),
    column('Status', 'What the pod is doing, in one word.'),
    column('Restarts', 'How often its containers were started again, and when last.'),
    ageColumn,
    wideColumn('IP', 'Address of the pod.'),
    wideColumn('Node', 'Node the pod is bound to.'),
    wideColumn('Nominated Node', 'Node on which room is being made for the pod.'),
    wideColumn('Readiness Gates', 'Conditions from outside that hold, of all that the pod waits for.'),
  ],
  print: describePod,
};

const completed: Readonly<Record<string, RowCondition>> = {
  Succeeded: { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'Every container ended well.' },
  Failed: {
    type: 'Completed',
    status: 'True',
    reason: 'Failed',
    message: 'The pod ended, and not every container well.',
  },
};

function describePod(pod: Fields, nowMs: number): PrintedRow {
  const summary = derivePodSummary(pod);
  const condition = completed[textAt(pod, 'status', 'phase')];
  return {
    cells: [
      textAt(pod, 'metadata', 'name'),
      `${summary.ready}/${summary.total}`,
      summary.status,
      describeRestarts(summary, nowMs),
      ageSince(textAt(pod, 'metadata', 'creationTimestamp'), nowMs),
      textAt(listAt(pod, 'status', 'podIPs')[0], 'ip') || '<none>',
      textAt(pod, 'spec', 'nodeName') || '<none>',
      textAt(pod, 'status', 'nominatedNodeName') || '<none>',
      describeGates(pod),
    ],
    ...(condition === undefined ? {} : { conditions: [condition] }),
  };
}

function describeRestarts({ restarts, lastRestartMs }: PodSummary, nowMs: number): string {
  if (restarts === 0 || lastRestartMs === 0) return String(restarts);
  return `${restarts} (${humanDuration(nowMs - lastRestartMs)} ago)`;
}

function describeGates(pod: Fields): string {
  const gates = listAt(pod, 'spec', 'readinessGates').map((gate) => textAt(gate, 'conditionType'));
  if (gates.length === 0) return '<none>';
  const conditions = listAt(pod, 'status', 'conditions');
  const open = gates.filter((type) => {
    const condition = conditions.find((candidate) => textAt(candidate, 'type') === type);
    return textAt(condition, 'status') === 'True';
  });
  return `${open.length}/${gates.length}`;
}
