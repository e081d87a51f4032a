/** Deployments, ReplicaSets, StatefulSets, Jobs and budgets (upstream `printDeployment` and its neighbours). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { parseTimestamp } from '../../../machinery/api/timestamps.ts';
import { mapAt, mapsAt, numberAt, textAt, valueAt } from '../select-field.ts';
import { ageSince, humanDuration } from './describe-age.ts';
import {
  ageColumn,
  column,
  countColumn,
  nameColumn,
  numberColumn,
  type PrintedColumn,
  wideColumn,
} from './describe-columns.ts';
import {
  containerColumns,
  describeLabels,
  describeSelector,
  selectorColumn,
  templateColumns,
} from './describe-pod-template.ts';

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

export const replicationControllerColumns: readonly PrintedColumn[] = [
  ...replicaSetColumns.slice(0, -1),
  wideColumn('Selector', 'Labels of its pods.', (owner) => describeLabels(mapAt(owner, 'spec', 'selector'))),
];

export const podTemplateColumns: readonly PrintedColumn[] = [
  nameColumn,
  ...containerColumns('template'),
  column('Pod Labels', 'Labels of the pods.', (owner) =>
    describeLabels(mapAt(owner, 'template', 'metadata', 'labels')),
  ),
];

export const controllerRevisionColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Controller', 'Kind and name of the object of which it is a revision.', describeController),
  numberColumn('Revision', 'Number of the revision.', (revision) => numberAt(revision, 'revision')),
  ageColumn,
];

const jobTemplate = ['spec', 'jobTemplate', 'spec'] as const;

export const cronJobColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Schedule', 'When a Job is created, in cron syntax.', (cronJob) => textAt(cronJob, 'spec', 'schedule')),
  column('Timezone', 'Time zone of the schedule.', (cronJob) => {
    const zone = valueAt(cronJob, 'spec', 'timeZone');
    return typeof zone === 'string' ? zone : '<none>';
  }),
  { ...column('Suspend', 'Whether no Jobs are created for now.', describeSuspension), type: 'boolean' },
  countColumn('Active', 'Number of Jobs that run.', (cronJob) => mapsAt(cronJob, 'status', 'active').length),
  column('Last Schedule', 'Time since a Job was last created.', (cronJob, nowMs) => {
    const at = textAt(cronJob, 'status', 'lastScheduleTime');
    return at === '' ? '<none>' : ageSince(at, nowMs);
  }),
  ageColumn,
  ...containerColumns(...jobTemplate, 'template').map((each) => ({ ...each, priority: 1 }) as const),
  wideColumn('Selector', 'Label selector of the pods.', (it) =>
    describeSelector(mapAt(it, ...jobTemplate, 'selector')),
  ),
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

function describeController(revision: JsonMap): string {
  const owner = mapsAt(revision, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);
  if (owner === undefined) return '<none>';
  const apiVersion = textAt(owner, 'apiVersion');
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : '';
  return `${textAt(owner, 'kind')}${group}`.toLowerCase() + `/${textAt(owner, 'name')}`;
}

function describeSuspension(cronJob: JsonMap): string {
  const suspended = valueAt(cronJob, 'spec', 'suspend');
  if (typeof suspended !== 'boolean') return '<unset>';
  return suspended ? 'True' : 'False';
}
