/** Deployments, ReplicaSets, StatefulSets, Jobs and budgets (upstream `printDeployment` and its neighbours). */
import type { JsonMap } from '../../api/json-map.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import { mapsAt, numberAt, textAt, valueAt } from '../select-field.ts';
import { humanDuration } from './describe-age.ts';
import { ageColumn, column, countColumn, nameColumn, numberColumn, type PrintedColumn } from './describe-columns.ts';
import { selectorColumn, templateColumns } from './describe-pod-template.ts';

const readyColumn = column('Ready', 'Number of ready pods, and of those that are wanted.', (owner) => {
  return `${numberAt(owner, 'status', 'readyReplicas')}/${numberAt(owner, 'spec', 'replicas')}`;
});

function statusCount(name: string, description: string, field: string): PrintedColumn {
  return countColumn(name, description, (owner) => numberAt(owner, 'status', field));
}

export const deploymentColumns: readonly PrintedColumn[] = [
  nameColumn,
  readyColumn,
  numberColumn('Up-to-date', 'Number of pods of the current template.', (owner) =>
    numberAt(owner, 'status', 'updatedReplicas'),
  ),
  numberColumn('Available', 'Number of available pods.', (owner) => numberAt(owner, 'status', 'availableReplicas')),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const replicaSetColumns: readonly PrintedColumn[] = [
  nameColumn,
  countColumn('Desired', 'Number of pods that are wanted.', (owner) => numberAt(owner, 'spec', 'replicas')),
  statusCount('Current', 'Number of pods that exist.', 'replicas'),
  statusCount('Ready', 'Number of ready pods.', 'readyReplicas'),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const statefulSetColumns: readonly PrintedColumn[] = [nameColumn, readyColumn, ageColumn, ...templateColumns];

export const jobColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Status', 'State of the Job.', describeJobStatus),
  column('Completions', 'Number of pods that succeeded, and of those that are wanted.', describeCompletions),
  column('Duration', 'Time from the start of the Job to its completion, or until now.', describeJobDuration),
  ageColumn,
  ...templateColumns,
  selectorColumn,
];

export const budgetColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Min Available', 'Pods that must stay available.', (budget) => describeLimit(budget, 'minAvailable')),
  column('Max Unavailable', 'Pods that may be unavailable.', (budget) => describeLimit(budget, 'maxUnavailable')),
  statusCount('Allowed Disruptions', 'Number of pods that may be evicted now.', 'disruptionsAllowed'),
  ageColumn,
];

/** The conditions of a Job that are shown, the most important first; `deleted` is no condition. */
const jobStates = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['deleted', 'Terminating'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
] as const;

function describeJobStatus(job: JsonMap): string {
  const isTrue = ({ status }: JsonMap): boolean => status === 'True';
  const conditions = new Set(
    mapsAt(job, 'status', 'conditions')
      .filter(isTrue)
      .map((each) => textAt(each, 'type')),
  );
  if (textAt(job, 'metadata', 'deletionTimestamp') !== '') conditions.add('deleted');
  return jobStates.find(([condition]) => conditions.has(condition))?.[1] ?? 'Running';
}

function describeCompletions(job: JsonMap): string {
  const succeeded = numberAt(job, 'status', 'succeeded');
  const completions = valueAt(job, 'spec', 'completions');
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  const parallelism = numberAt(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function describeJobDuration(job: JsonMap, nowMs: number): string {
  const startedAtMs = parseTimestamp(textAt(job, 'status', 'startTime'));
  if (startedAtMs === undefined) return '';
  return humanDuration((parseTimestamp(textAt(job, 'status', 'completionTime')) ?? nowMs) - startedAtMs);
}

function describeLimit(budget: JsonMap, field: string): string {
  const value = valueAt(budget, 'spec', field);
  return typeof value === 'number' || typeof value === 'string' ? String(value) : 'N/A';
}
