/** What the status of a Job must be (upstream `ValidateJobStatusUpdate`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { parseTimestamp } from '../../../machinery/api/timestamps.ts';
import { type FieldError, inconsistentField, invalidField, requiredField } from '../api-errors/field-errors.ts';
import { mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { checkCounts } from '../validation/field-checks.ts';
import { countIndexes, findOverlap } from './job-indexes.ts';

const conditionsField = 'status.conditions';

/** A rule that conditions exclude each other, or need each other. */
function conflict(applies: boolean, detail: string): readonly FieldError[] {
  return applies ? [inconsistentField(conditionsField, detail)] : [];
}

function isTrue(status: MutableJsonMap, type: string): boolean {
  return mapsAt(status, 'conditions').some((one) => one['type'] === type && one['status'] === 'True');
}

export function validateJobStatus(draft: Draft, stored: Draft): readonly FieldError[] {
  const [status, before] = [draft.status ?? {}, stored.status ?? {}];
  return [
    ...checkCounts(status, ['active', 'succeeded', 'failed', 'ready', 'terminating'], 'status'),
    ...validateConditions(status),
    ...validateTimes(status),
    ...validateFinished(status),
    ...validateIndexes(draft, before),
    ...validateReady(status),
    ...validateProgress(status, before, draft.spec?.['suspend'] === true),
  ];
}

function validateConditions(status: MutableJsonMap): readonly FieldError[] {
  const complete = isTrue(status, 'Complete');
  const failed = isTrue(status, 'Failed');
  const target = isTrue(status, 'FailureTarget');
  const success = isTrue(status, 'SuccessCriteriaMet');
  return [
    ...conflict(complete && failed, 'cannot set Complete=True and Failed=true conditions'),
    ...conflict(complete && target, 'cannot set Complete=True and FailureTarget=true conditions'),
    ...conflict(failed && !target, 'cannot set Failed=True condition without the FailureTarget=true condition'),
    ...conflict(
      complete && !success,
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ),
    ...conflict(success && failed, 'cannot set SuccessCriteriaMet=True and Failed=true conditions'),
    ...conflict(success && target, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'),
  ];
}

function validateTimes(status: MutableJsonMap): readonly FieldError[] {
  const [start, end] = [textAt(status, 'startTime'), textAt(status, 'completionTime')];
  const field = 'status.completionTime';
  const complete = isTrue(status, 'Complete');
  const errors: FieldError[] = [];
  if (end !== '' && !complete) {
    errors.push(invalidField(field, end, 'cannot set completionTime when there is no Complete=True condition'));
  }
  if (end === '' && complete) errors.push(requiredField(field, 'completionTime is required for Complete jobs'));
  if (start !== '' && end !== '' && (parseTimestamp(end) ?? 0) < (parseTimestamp(start) ?? 0)) {
    errors.push(invalidField(field, end, 'must be equal to or after `startTime`'));
  }
  return errors;
}

function validateFinished(status: MutableJsonMap): readonly FieldError[] {
  if (!isTrue(status, 'Complete') && !isTrue(status, 'Failed')) return [];
  const uncounted = mapAt(status, 'uncountedTerminatedPods');
  const errors = ['active', 'terminating']
    .filter((field) => numberAt(status, field) > 0)
    .map((field) => invalidField(`status.${field}`, ownValue(status, field), `${field}>0 is invalid for finished job`));
  if (textAt(status, 'startTime') === '') {
    errors.push(requiredField('status.startTime', 'startTime is required for finished job'));
  }
  if (Object.values(uncounted).some((names) => Array.isArray(names) && names.length > 0)) {
    errors.push(invalidField('status.uncountedTerminatedPods', uncounted, 'must be empty for finished job'));
  }
  return errors;
}

const indexFields = ['completedIndexes', 'failedIndexes'] as const;

/** Only what changes: completions that were lowered make no index of the stored status an error. */
function validateIndexes({ spec = {}, status = {} }: Draft, before: MutableJsonMap): readonly FieldError[] {
  const changed = indexFields.filter((name) => (status[name] ?? null) !== (before[name] ?? null));
  return [
    ...changed.flatMap((name) => validateFormat(spec, status, name)),
    ...(changed.includes('completedIndexes') ? validateIndexed(spec, status) : []),
    ...(changed.includes('failedIndexes') ? validateLimited(spec, status) : []),
    ...(changed.length > 0 ? validateOverlap(spec, status) : []),
  ];
}

function hasLimitPerIndex(spec: MutableJsonMap): boolean {
  return typeof spec['backoffLimitPerIndex'] === 'number';
}

function validateFormat(
  spec: MutableJsonMap,
  status: MutableJsonMap,
  name: (typeof indexFields)[number],
): readonly FieldError[] {
  const [{ completions }, indexes] = [spec, status[name]];
  if (typeof indexes !== 'string' || typeof completions !== 'number') return [];
  if (name === 'failedIndexes' && !hasLimitPerIndex(spec)) return [];
  const problem = countIndexes(indexes, completions);
  return typeof problem === 'string'
    ? [invalidField(`status.${name}`, indexes, `error parsing ${name}: ${problem}`)]
    : [];
}

function validateIndexed({ completionMode }: MutableJsonMap, status: MutableJsonMap): readonly FieldError[] {
  const completed = textAt(status, 'completedIndexes');
  if (completed === '' || completionMode === 'Indexed') return [];
  const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
  return [invalidField('status.completedIndexes', completed, detail)];
}

function validateLimited(spec: MutableJsonMap, { failedIndexes }: MutableJsonMap): readonly FieldError[] {
  if (typeof failedIndexes !== 'string' || hasLimitPerIndex(spec)) return [];
  const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
  return [invalidField('status.failedIndexes', failedIndexes, detail)];
}

function validateOverlap({ completions }: MutableJsonMap, status: MutableJsonMap): readonly FieldError[] {
  const { failedIndexes } = status;
  if (typeof failedIndexes !== 'string' || typeof completions !== 'number') return [];
  const index = findOverlap(textAt(status, 'completedIndexes'), failedIndexes, completions);
  if (index === undefined) return [];
  const detail = `failedIndexes and completedIndexes overlap at index: ${index}`;
  return [invalidField('status.failedIndexes', failedIndexes, detail)];
}

function validateReady(status: MutableJsonMap): readonly FieldError[] {
  const { ready } = status;
  if (typeof ready !== 'number' || ready <= numberAt(status, 'active')) return [];
  return [invalidField('status.ready', ready, 'cannot set more ready pods than active')];
}

/** What must not go back. */
function validateProgress(status: MutableJsonMap, before: MutableJsonMap, isSuspended: boolean): readonly FieldError[] {
  const decreased = ['failed', 'succeeded']
    .filter((field) => numberAt(status, field) < numberAt(before, field))
    .map((field) => invalidField(`status.${field}`, numberAt(status, field), `cannot decrease the ${field} counter`));
  const disabled = ['Failed', 'Complete', 'FailureTarget'].flatMap((type) =>
    conflict(isTrue(before, type) && !isTrue(status, type), `cannot disable the terminal ${type}=True condition`),
  );
  const [start, startBefore] = [textAt(status, 'startTime'), textAt(before, 'startTime')];
  const restarted = startBefore !== '' && start !== startBefore && !isSuspended;
  const kept = 'field is immutable for unsuspended job once set';
  return [
    ...disabled,
    ...decreased,
    ...(restarted ? [invalidField('status.startTime', start === '' ? null : start, kept)] : []),
    ...conflict(
      isTrue(before, 'SuccessCriteriaMet') && !isTrue(status, 'SuccessCriteriaMet'),
      'cannot disable the SuccessCriteriaMet=True condition',
    ),
  ];
}
