/** Jobs and CronJobs (upstream `pkg/apis/batch/v1/defaults.go`, `pkg/registry/batch`, `pkg/apis/batch/validation`). */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../api-errors/field-errors.ts';
import { defaultTemplate } from '../registry/pod-defaults.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, mapsAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkCounts, checkOneOf } from '../validation/field-checks.ts';
import { explainSchedule, explainTimeZone } from './cron-schedule.ts';
import { fillIn, fillZero } from './fill-in.ts';
import { validateJobStatus } from './job-status-validation.ts';
import { validateJob, validateJobChange, validateJobSpec, validateNewJob } from './job-validation.ts';

/** A controller appends 11 characters to the name. */
const cronJobNameMax = 52;
const int32Max = 2 ** 31 - 1;
const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'] as const;

export const jobRules: KindRules = {
  orphans: true,
  setDefaults: defaultJob,
  prepareNew: (draft) => {
    generateSelector(draft);
    labelAsTemplate(draft);
  },
  validateSpec: validateJob,
  validateCreate: validateNewJob,
  validateChange: validateJobChange,
  validateStatus: validateJobStatus,
};

export const cronJobRules: KindRules = {
  setDefaults: defaultCronJob,
  validateSpec: validateCronJob,
  validateCreate: validateNewCronJob,
  validateChange: validateCronJobChange,
};

function defaultJob(draft: Draft): void {
  const spec = (draft.spec ??= {});
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
  fillIn(spec, {
    parallelism: 1,
    completionMode: 'NonIndexed',
    suspend: false,
    backoffLimit: spec['backoffLimitPerIndex'] === undefined ? 6 : int32Max,
    podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
  });
  for (const rule of mapsAt(spec, 'podFailurePolicy', 'rules')) {
    for (const condition of mapsAt(rule, 'onPodConditions')) fillZero(condition, { status: 'True' });
  }
  defaultTemplate(spec);
  labelAsTemplate(draft);
}

/** A Job without labels has those of its template. */
function labelAsTemplate(draft: Draft): void {
  const labels = mapAt(draft.spec, 'template', 'metadata')['labels'];
  if (isMap(labels) && Object.keys(draft.metadata.labels ?? {}).length === 0)
    Object.assign(draft.metadata, { labels: { ...labels } });
}

/** A Job selects its pods by its own uid. */
function generateSelector({ metadata, spec = {} }: Draft): void {
  if (spec['manualSelector'] === true) return;
  const { uid = '', name = '' } = metadata;
  const own = { 'controller-uid': uid, 'batch.kubernetes.io/controller-uid': uid };
  const named = { 'job-name': name, 'batch.kubernetes.io/job-name': name };
  const template = mapAt(spec, 'template');
  const labels = { ...mapAt(template, 'metadata', 'labels'), ...named, ...own };
  spec['template'] = { ...template, metadata: { ...mapAt(template, 'metadata'), labels } };
  const selector = mapAt(spec, 'selector');
  const matchLabels = { ...mapAt(selector, 'matchLabels'), 'batch.kubernetes.io/controller-uid': uid };
  spec['selector'] = { ...selector, matchLabels };
}

function defaultCronJob(draft: Draft): void {
  const spec = fillIn((draft.spec ??= {}), {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  defaultTemplate(mapAt(spec, 'jobTemplate', 'spec'));
}

function validateCronJob({ spec = {} }: Draft): readonly FieldError[] {
  const template = mapAt(spec, 'jobTemplate', 'spec');
  const path = 'spec.jobTemplate.spec';
  const { selector } = template;
  const isManual = template['manualSelector'] === true;
  return [
    ...checkOneOf(spec, 'concurrencyPolicy', 'spec', concurrencyPolicies),
    ...checkCounts(spec, ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], 'spec'),
    ...validateJobSpec(template, path),
    ...(selector === undefined
      ? []
      : [invalidField(`${path}.selector`, selector, '`selector` will be auto-generated')]),
    ...(isManual ? [unsupportedField(`${path}.manualSelector`, true, ['nil', 'false'])] : []),
  ];
}

function validateNewCronJob(draft: Draft): readonly FieldError[] {
  const { metadata, spec = {} } = draft;
  const { name = '' } = metadata;
  const detail = `must be no more than ${cronJobNameMax} characters`;
  return [
    ...validateSchedule(spec['schedule'], false),
    ...validateTimeZone(spec['timeZone']),
    ...(name.length > cronJobNameMax ? [invalidField('metadata.name', name, detail)] : []),
  ];
}

/** What was valid before stays so. */
function validateCronJobChange({ spec = {} }: Draft, { spec: before = {} }: Draft): readonly FieldError[] {
  const hadZone = String(before['schedule']).includes('TZ');
  return [
    ...validateSchedule(spec['schedule'], hadZone),
    ...(spec['timeZone'] === before['timeZone'] ? [] : validateTimeZone(spec['timeZone'])),
  ];
}

function validateTimeZone(zone: unknown): readonly FieldError[] {
  if (typeof zone !== 'string') return [];
  return explainTimeZone(zone).map((message) => invalidField('spec.timeZone', zone, message));
}

function validateSchedule(schedule: unknown, allowsZone: boolean): readonly FieldError[] {
  const field = 'spec.schedule';
  if (typeof schedule !== 'string' || schedule === '') return [requiredField(field)];
  const problem = explainSchedule(schedule);
  const errors = problem === undefined ? [] : [invalidField(field, schedule, problem)];
  if (allowsZone || !schedule.includes('TZ')) return errors;
  const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  return [...errors, invalidField(field, schedule, detail)];
}
