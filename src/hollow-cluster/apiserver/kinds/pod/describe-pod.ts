import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { hasCondition, mapsAt, textAt } from '../../../../machinery/api/select-field.ts';
import { buildPodSummary } from './build-pod-summary.ts';
import { humanDuration } from '../../printing/describe-age.ts';
import { ageColumn, column, nameColumn, type PrintedColumn, wideColumn } from '../../printing/describe-columns.ts';

/** Pods (upstream `printPod`). */
export const podColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Ready', 'Number of ready containers out of all containers.', (pod) => {
    const { ready, total } = buildPodSummary(pod);
    return `${ready}/${total}`;
  }),
  column('Status', 'Status of the pod, in one word.', (pod) => buildPodSummary(pod).status),
  column('Restarts', 'Number of container restarts, and the time since the last one.', (pod, nowMs) => {
    const { restarts, lastRestartMs } = buildPodSummary(pod);
    if (restarts === 0 || lastRestartMs === 0) return String(restarts);
    return `${restarts} (${humanDuration(nowMs - lastRestartMs)} ago)`;
  }),
  ageColumn,
  wideColumn('IP', 'IP address of the pod.', (pod) => textAt(mapsAt(pod, 'status', 'podIPs')[0], 'ip') || '<none>'),
  wideColumn('Node', 'Node of the pod.', (pod) => textAt(pod, 'spec', 'nodeName') || '<none>'),
  wideColumn('Nominated Node', 'Node on which pods are being preempted for this pod.', (pod) => {
    return textAt(pod, 'status', 'nominatedNodeName') || '<none>';
  }),
  wideColumn('Readiness Gates', 'Number of readiness gates that are true, out of all.', describeGates),
];

/** Condition of a row; lets clients hide finished pods. */
export interface RowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

/** The condition of the row of a finished pod, by its phase. */
export const completedConditions: Readonly<Record<string, RowCondition>> = {
  Succeeded: { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'All containers succeeded.' },
  Failed: {
    type: 'Completed',
    status: 'True',
    reason: 'Failed',
    message: 'The pod ended, and at least one container failed.',
  },
};

function describeGates(pod: JsonMap): string {
  const gates = mapsAt(pod, 'spec', 'readinessGates').map((gate) => textAt(gate, 'conditionType'));
  if (gates.length === 0) return '<none>';
  const open = gates.filter((type) => hasCondition(pod, type));
  return `${open.length}/${gates.length}`;
}
