/**
 * Validation of events (upstream `pkg/apis/core/validation/events.go`). core/v1 accepts nearly everything;
 * events.k8s.io/v1 is strict, and allows updates of the series only. As upstream, errors use the core/v1 field names for
 * both groups.
 */
import { ownValue } from '../../../../machinery/api/json-map.ts';
import type { Draft } from '../../storage/stored-object.ts';
import { eventsV1Group } from '../../resources.ts';
import { isQualifiedName } from '../../../../machinery/api/names.ts';
import { type FieldError, invalidField, requiredField } from '../../api-errors/field-errors.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { isMap, textAt } from '../../../../machinery/api/select-field.ts';

/** Bytes, for `reportingInstance`, `action` and `reason`. */
const shortTextBytesMax = 128;
const noteBytesMax = 1_024;
const seriesCountMin = 2;

/**
 * Validation on every write (`legacyValidateEvent`). An event with `eventTime` must satisfy the rules of
 * events.k8s.io/v1.
 */
export function validateEvent(draft: Draft, group: string): readonly FieldError[] {
  if (textAt(draft, 'eventTime') === '') return validateNamespace(draft, ['default']);
  const reporter = group === eventsV1Group ? 'reportingController' : 'reportingComponent';
  return [
    ...validateEventV1Namespace(draft),
    ...validateReporter(textAt(draft, 'reportingComponent'), reporter),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) => validateShortText(draft, field)),
    ...validateLength(draft, 'message', noteBytesMax),
  ];
}

/** `ValidateEventCreate`, in addition to {@link validateEvent}. */
export function validateEventCreate(draft: Draft, group: string): readonly FieldError[] {
  if (group !== eventsV1Group) return [];
  const type = textAt(draft, 'type');
  const errors = validateSeries(draft);
  if (textAt(draft, 'eventTime') === '') errors.push(requiredField('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalidField('type', '', `has invalid value: ${type}`));
  for (const field of ['firstTimestamp', 'lastTimestamp', 'count', 'source'])
    if (!isUnset(ownValue(draft, field))) errors.push(invalidField(field, '', 'needs to be unset'));
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

/** `ValidateEventUpdate`, in addition to {@link validateEvent}. */
export function validateEventUpdate(draft: Draft, stored: Draft, group: string): readonly FieldError[] {
  if (group !== eventsV1Group) return [];
  const errors = sameJson(draft['series'], stored['series']) ? [] : validateSeries(draft);
  for (const field of fixedFields) {
    if (sameJson(draft[field], stored[field]) || (isUnset(draft[field]) && isUnset(stored[field]))) continue;
    const name = field === 'reportingComponent' ? 'reportingController' : field;
    errors.push(invalidField(name, draft[field] ?? null, 'field is immutable'));
  }
  return errors;
}

function validateNamespace(draft: Draft, clusterNamespaces: readonly string[]): readonly FieldError[] {
  const about = textAt(draft['involvedObject'], 'namespace');
  const namespaces = about === '' ? clusterNamespaces : [about];
  if (namespaces.includes(draft.metadata.namespace ?? '')) return [];
  return [invalidField('involvedObject.namespace', about, 'does not match event.namespace')];
}

/** An events.k8s.io/v1 Event about a namespaced object may be in any namespace. */
function validateEventV1Namespace(draft: Draft): readonly FieldError[] {
  return textAt(draft['involvedObject'], 'namespace') === ''
    ? validateNamespace(draft, ['default', 'kube-system'])
    : [];
}

function validateReporter(value: string, field: string): readonly FieldError[] {
  const errors: FieldError[] = value === '' ? [requiredField(field)] : [];
  if (isQualifiedName(value)) return errors;
  return [...errors, invalidField(field, value, 'name part must be a qualified name')];
}

function validateShortText(draft: Draft, field: string): readonly FieldError[] {
  if (textAt(draft, field) === '') return [requiredField(field)];
  return validateLength(draft, field, shortTextBytesMax);
}

function validateLength(draft: Draft, field: string, bytesMax: number): readonly FieldError[] {
  if (Buffer.byteLength(textAt(draft, field)) <= bytesMax) return [];
  return [invalidField(field, '', `can have at most ${bytesMax} characters`)];
}

/** `validateV1EventSeries`. */
function validateSeries(draft: Draft): FieldError[] {
  const series = draft['series'];
  if (!isMap(series)) return [];
  const errors: FieldError[] = [];
  if (Number(series['count'] ?? 0) < seriesCountMin)
    errors.push(invalidField('series.count', '', 'should be at least 2'));
  if (textAt(series, 'lastObservedTime') === '') errors.push(requiredField('series.lastObservedTime'));
  return errors;
}

/** Whether it is the zero value in Go, or missing. */
function isUnset(value: unknown): boolean {
  if (isMap(value)) return Object.values(value).every(isUnset);
  return value === undefined || value === null || value === '' || value === 0;
}
