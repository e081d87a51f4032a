/** Jobs and CronJobs (upstream `pkg/apis/batch/v1/defaults.go`, `pkg/registry/batch`, `pkg/apis/batch/validation`). */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../api-errors/field-errors.ts';
import { defaultTemplate } from '../registry/pod-defaults.ts';
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { fillIn, fillZero } from './fill-in.ts';
import { validateCounts, validateEndingPod, validateKept } from './pod-template-rules.ts';

/** A controller appends 11 characters to the name. */
const cronJobNameMax = 52;
const int32Max = 2 ** 31 - 1;
const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'] as const;
const timeZonePart = /^(?![-+])[A-Za-z._0-9+-]{1,14}$/;
const completionModes = ['NonIndexed', 'Indexed'] as const;
const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;
const fixed = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

export const jobRules: KindRules = {
  orphans: true,
  setDefaults: defaultJob,
  prepareNew: (draft) => {
    generateSelector(draft);
    labelAsTemplate(draft);
  },
  validate: ({ spec = {} }) => validateJob(spec, 'spec'),
  validateUpdate: (draft, stored) => [...validateCompletions(draft, stored), ...validateJobKept(draft, stored)],
};

export const cronJobRules: KindRules = {
  setDefaults: defaultCronJob,
  validate: validateCronJob,
  validateCreate: ({ metadata: { name = '' }, spec }) => [
    ...(name.length > cronJobNameMax
      ? [invalidField('metadata.name', name, `must be no more than ${cronJobNameMax} characters`)]
      : []),
    ...validateTimeZone(spec?.['timeZone']),
  ],
  validateUpdate: ({ spec }, { spec: before }) =>
    spec?.['timeZone'] === before?.['timeZone'] ? [] : validateTimeZone(spec?.['timeZone']),
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
  spec['selector'] = { ...mapAt(spec, 'selector'), matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
}

function validateJob(spec: MutableJsonMap, path: string): readonly FieldError[] {
  return [...validateCounts(spec, counts, path), ...validateMode(spec, path), ...validateEndingPod(spec, path)];
}

function validateMode(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const mode = textAt(spec, 'completionMode') || 'NonIndexed';
  if (mode === 'Indexed') {
    if (spec['completions'] !== undefined) return [];
    return [requiredField(`${path}.completions`, 'when completion mode is Indexed')];
  }
  if (mode !== 'NonIndexed') return [unsupportedField(`${path}.completionMode`, mode, completionModes)];
  return ['backoffLimitPerIndex', 'maxFailedIndexes']
    .filter((field) => spec[field] !== undefined)
    .map((field) => invalidField(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
}

/** Only an Indexed Job may change its completions, together with its parallelism. */
function validateCompletions({ spec = {} }: Draft, { spec: before = {} }: Draft): readonly FieldError[] {
  const changed = spec['completions'] !== before['completions'];
  const elastic = spec['completionMode'] === 'Indexed' && spec['completions'] === spec['parallelism'];
  return changed && !elastic
    ? [invalidField('spec.completions', spec['completions'] ?? null, 'field is immutable')]
    : [];
}

/** The template of a suspended Job that has not started may change. */
function validateJobKept(draft: Draft, stored: Draft): readonly FieldError[] {
  const unstarted = stored.spec?.['suspend'] === true && stored.status?.['startTime'] === undefined;
  return validateKept(draft, stored, unstarted ? fixed : [...fixed, 'template']);
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
  const errors = [...validateSchedule(textAt(spec, 'schedule'))];
  const policy = textAt(spec, 'concurrencyPolicy');
  if (!concurrencyPolicies.some((known) => known === policy)) {
    errors.push(unsupportedField('spec.concurrencyPolicy', policy, concurrencyPolicies));
  }
  return [
    ...errors,
    ...validateCounts(spec, ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit']),
    ...validateJob(mapAt(spec, 'jobTemplate', 'spec'), 'spec.jobTemplate.spec'),
  ];
}

/** Known are the zones of the IANA database. */
function validateTimeZone(zone: unknown): readonly FieldError[] {
  if (typeof zone !== 'string') return [];
  const invalid = (why: string): readonly FieldError[] => [invalidField('spec.timeZone', zone, why)];
  if (zone === '') return invalid('timeZone must be nil or non-empty string');
  if (zone.toLowerCase() === 'local')
    return invalid('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  return isTimeZone(zone) ? [] : invalid(`unknown time zone ${zone}`);
}

/** Offsets such as `+01` are time zones of JavaScript only. */
function isTimeZone(zone: string): boolean {
  const parts = zone.split('/');
  if (!parts.every((part) => timeZonePart.test(part) && part !== '.' && part !== '..')) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function validateSchedule(schedule: string): readonly FieldError[] {
  if (schedule === '') return [requiredField('spec.schedule')];
  if (schedule.includes('TZ')) {
    return [
      invalidField('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    ];
  }
  const parts = schedule.trim().split(/\s+/);
  if (schedule.startsWith('@') || parts.length === 5) return [];
  return [
    invalidField('spec.schedule', schedule, `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`),
  ];
}
