/** Checks that many kinds share. Each returns the errors of fields, none if there is nothing wrong. */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { isMap, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import { explainLabelValue, explainPercent, explainPort, explainPortName, explainQualifiedName } from './formats.ts';

const none: readonly FieldError[] = [];

/** Every problem of that text is an error of that field. */
export function checkFormat(
  field: string,
  text: string,
  explain: (text: string) => readonly string[],
): readonly FieldError[] {
  const problems = explain(text);
  return problems.length === 0 ? none : problems.map((message) => invalidField(field, text, message));
}

/** The same for a text that may be absent. */
export function checkOptional(
  owner: MutableJsonMap,
  name: string,
  path: string,
  explain: (text: string) => readonly string[],
): readonly FieldError[] {
  const text = textAt(owner, name);
  return text === '' ? none : checkFormat(`${path}.${name}`, text, explain);
}

/** The same for a text that must not be empty. */
export function checkRequired(
  owner: MutableJsonMap,
  name: string,
  path: string,
  explain: (text: string) => readonly string[] = () => [],
): readonly FieldError[] {
  const text = textAt(owner, name);
  return text === '' ? [requiredField(`${path}.${name}`)] : checkFormat(`${path}.${name}`, text, explain);
}

/** Numbers that are absent or not negative. */
export function checkCounts(owner: MutableJsonMap, fields: readonly string[], path: string): readonly FieldError[] {
  return fields.flatMap((field) => {
    const value = ownValue(owner, field);
    if ((typeof value !== 'number' && typeof value !== 'bigint') || value >= 0) return [];
    return [invalidField(`${path}.${field}`, value, 'must be greater than or equal to 0')];
  });
}

/** One of the known values, or absent. */
export function checkOneOf(
  owner: MutableJsonMap,
  name: string,
  path: string,
  known: readonly string[],
): readonly FieldError[] {
  const value = ownValue(owner, name);
  if (value === undefined || known.some((one) => one === value)) return none;
  return [unsupportedField(path === '' ? name : `${path}.${name}`, value, known)];
}

/** A port by number or by name. */
export function checkPort(field: string, port: unknown): readonly FieldError[] {
  if (typeof port === 'string') return checkFormat(field, port, explainPortName);
  if (typeof port !== 'number') return [];
  return explainPort(port).map((message) => invalidField(field, port, message));
}

/** A number that is not negative, or a percentage. */
export function checkShare(field: string, value: unknown): readonly FieldError[] {
  if (typeof value === 'string') return checkFormat(field, value, explainPercent);
  if (typeof value !== 'number' || value >= 0) return [];
  return [invalidField(field, value, 'must be greater than or equal to 0')];
}

export function checkAtMostAll(field: string, value: unknown): readonly FieldError[] {
  if (typeof value !== 'string' || explainPercent(value).length > 0 || Number.parseInt(value, 10) <= 100) return [];
  return [invalidField(field, value, 'must not be greater than 100%')];
}

/** As upstream, a text that is no percentage counts as zero. */
export function isZeroShare(value: unknown): boolean {
  if (typeof value === 'number') return value === 0;
  return typeof value !== 'string' || explainPercent(value).length > 0 || Number.parseInt(value, 10) === 0;
}

/** Labels, or a selector that is a map of labels. */
export function checkLabels(field: string, labels: unknown): readonly FieldError[] {
  return Object.entries(isMap(labels) ? labels : {}).flatMap(([key, value]) => [
    ...checkFormat(field, key, explainQualifiedName),
    ...(typeof value === 'string' ? checkFormat(field, value, explainLabelValue) : []),
  ]);
}

/** Keys of annotations; capital letters are valid in a prefix. */
export function checkAnnotationKeys(field: string, annotations: unknown): readonly FieldError[] {
  return Object.keys(isMap(annotations) ? annotations : {}).flatMap((key) =>
    explainQualifiedName(key.toLowerCase()).map((message) => invalidField(field, key, message)),
  );
}

/** A selector of labels (upstream `ValidateLabelSelector`). */
export function checkSelector(field: string, selector: unknown): readonly FieldError[] {
  if (!isMap(selector)) return [];
  return [
    ...checkLabels(`${field}.matchLabels`, selector['matchLabels']),
    ...mapsAt(selector, 'matchExpressions').flatMap((expression, index) =>
      checkRequirement(`${field}.matchExpressions[${index}]`, expression),
    ),
  ];
}

function checkRequirement(path: string, expression: MutableJsonMap): readonly FieldError[] {
  const { values } = expression;
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
  return [
    ...checkValues(path, textAt(expression, 'operator'), texts),
    ...checkFormat(`${path}.key`, textAt(expression, 'key'), explainQualifiedName),
    ...texts.flatMap((value, index) => checkFormat(`${path}.values[${index}]`, value, explainLabelValue)),
  ];
}

/** Whether an operator has the values that it needs. */
export function checkValues(path: string, operator: string, values: readonly unknown[]): readonly FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [requiredField(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalidField(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

/** These fields may not change. `path` is empty for those of the object itself. */
export function checkKept(
  owners: readonly [MutableJsonMap, MutableJsonMap],
  fields: readonly string[],
  path: string,
): readonly FieldError[] {
  const [after, before] = owners;
  return fields.flatMap((name) => {
    const value = ownValue(after, name);
    if (sameJson(value, ownValue(before, name))) return [];
    return [invalidField(path === '' ? name : `${path}.${name}`, value ?? null, 'field is immutable')];
  });
}

/** Numbers of a status: none is negative, and none exceeds another one. */
export function checkReplicaCounts(
  status: MutableJsonMap,
  counts: readonly string[],
  limited: readonly string[],
  readyName?: string,
): readonly FieldError[] {
  const path = 'status';
  const numberOf = (name: string): number => Number(ownValue(status, name) ?? 0);
  const above = limited
    .filter((name) => numberOf(name) > numberOf('replicas'))
    .map((name) => invalidField(`${path}.${name}`, numberOf(name), 'cannot be greater than status.replicas'));
  const available = numberOf('availableReplicas');
  const unready =
    readyName !== undefined && available > numberOf('readyReplicas')
      ? [invalidField(`${path}.availableReplicas`, available, `cannot be greater than ${readyName}`)]
      : [];
  return [...checkCounts(status, counts, path), ...above, ...unready];
}
