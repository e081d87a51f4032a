/**
 * What an event must be (upstream `pkg/apis/core/validation/events.go`). Through core/v1 nearly everything goes;
 * events.k8s.io/v1 is strict, and changes nothing of a stored event but its series. Errors name the fields of the core
 * form through either group, as upstream's do.
 */
import type { Draft } from '../storage/stored-object.ts';
import { newerEventGroup } from './event-forms.ts';
import { isQualifiedName } from './names.ts';
import type { FieldError } from './refusals.ts';
import { sameValue } from './same-value.ts';
import { isRecord, textAt } from './strategy.ts';

/** Bytes, of `reportingInstance`, `action` and `reason`. */
const wordBytesMax = 128;
const noteBytesMax = 1_024;
const seriesCountMin = 2;

/** On every write (`legacyValidateEvent`). Who sets `eventTime` writes the newer kind of event and keeps its rules. */
export function validateEvent(draft: Draft, group: string): readonly FieldError[] {
  if (textAt(draft, 'eventTime') === '') return validateHome(draft, ['default']);
  const reporter = group === newerEventGroup ? 'reportingController' : 'reportingComponent';
  return [
    ...validateNewerHome(draft),
    ...validateReporter(textAt(draft, 'reportingComponent'), reporter),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) => validateWord(draft, field)),
    ...validateLength(draft, 'message', noteBytesMax),
  ];
}

/** `ValidateEventCreate`, beyond {@link validateEvent}. */
export function validateEventCreate(draft: Draft, group: string): readonly FieldError[] {
  if (group !== newerEventGroup) return [];
  const type = textAt(draft, 'type');
  const errors = [...validateSeries(draft)];
  if (textAt(draft, 'eventTime') === '') errors.push({ field: 'eventTime', problem: 'FieldValueRequired' });
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', `has invalid value: ${type}`));
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count', 'source'])
    if (!isUnset(draft[field])) errors.push(invalid(field, 'needs to be unset'));
  return errors;
}

const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

/** `ValidateEventUpdate`, beyond {@link validateEvent}. */
export function validateEventUpdate(draft: Draft, stored: Draft, group: string): readonly FieldError[] {
  if (group !== newerEventGroup) return [];
  const errors = sameValue(draft['series'], stored['series']) ? [] : [...validateSeries(draft)];
  for (const field of fixedFields) {
    if (sameField(draft[field], stored[field])) continue;
    const name = field === 'reportingComponent' ? 'reportingController' : field;
    errors.push({
      field: name,
      problem: 'FieldValueInvalid',
      value: draft[field] ?? null,
      detail: 'field is immutable',
    });
  }
  return errors;
}

function validateHome(draft: Draft, homesOfCluster: readonly string[]): readonly FieldError[] {
  const about = textAt(draft['involvedObject'], 'namespace');
  const homes = about === '' ? homesOfCluster : [about];
  if (homes.includes(draft.metadata.namespace ?? '')) return [];
  return [{ ...invalid('involvedObject.namespace', 'does not match event.namespace'), value: about }];
}

/** An event of the newer kind about something in a namespace may stand in any. */
function validateNewerHome(draft: Draft): readonly FieldError[] {
  return textAt(draft['involvedObject'], 'namespace') === '' ? validateHome(draft, ['default', 'kube-system']) : [];
}

function validateReporter(value: string, field: string): readonly FieldError[] {
  const errors: FieldError[] = value === '' ? [{ field, problem: 'FieldValueRequired' }] : [];
  if (isQualifiedName(value)) return errors;
  return [...errors, { ...invalid(field, 'name part must be a qualified name'), value }];
}

function validateWord(draft: Draft, field: string): readonly FieldError[] {
  if (textAt(draft, field) === '') return [{ field, problem: 'FieldValueRequired' }];
  return validateLength(draft, field, wordBytesMax);
}

function validateLength(draft: Draft, field: string, bytesMax: number): readonly FieldError[] {
  if (Buffer.byteLength(textAt(draft, field)) <= bytesMax) return [];
  return [invalid(field, `can have at most ${bytesMax} characters`)];
}

/** `validateV1EventSeries`. */
function validateSeries(draft: Draft): readonly FieldError[] {
  const series = draft['series'];
  if (!isRecord(series)) return [];
  const errors: FieldError[] = [];
  if (Number(series['count'] ?? 0) < seriesCountMin) errors.push(invalid('series.count', 'should be at least 2'));
  if (textAt(series, 'lastObservedTime') === '')
    errors.push({ field: 'series.lastObservedTime', problem: 'FieldValueRequired' });
  return errors;
}

function invalid(field: string, detail: string): FieldError {
  return { field, problem: 'FieldValueInvalid', value: '', detail };
}

/** In Go a missing field and its zero value are the same. */
function sameField(a: unknown, b: unknown): boolean {
  return sameValue(a, b) || (isUnset(a) && isUnset(b));
}

function isUnset(value: unknown): boolean {
  if (isRecord(value)) return Object.values(value).every(isUnset);
  return value === undefined || value === null || value === '' || value === 0;
}
