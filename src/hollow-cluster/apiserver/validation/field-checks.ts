/** Checks that many kinds share. Each returns the errors of fields, none if there is nothing wrong. */
import { ownValue, textOf } from '../../../machinery/api/json-map.ts';
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../api-errors/field-errors.ts';
import { isMap, mapsAt, type MutableJsonMap, textAt } from '../../../machinery/api/select-field.ts';
import { explainLabelValue, explainQualifiedName } from './formats.ts';

const none: readonly FieldError[] = [];

/** Checks the format of a text: every problem is an error of the field. */
export function checkFormat(
  field: string,
  text: string,
  explain: (text: string) => readonly string[],
): readonly FieldError[] {
  const problems = explain(text);
  return problems.length === 0 ? none : problems.map((message) => invalidField(field, text, message));
}

/** Checks the format of a text that may be absent. */
export function checkOptional(
  owner: MutableJsonMap,
  name: string,
  path: string,
  explain: (text: string) => readonly string[],
): readonly FieldError[] {
  const text = textAt(owner, name);
  return text === '' ? none : checkFormat(`${path}.${name}`, text, explain);
}

/** Checks the format of a text that must not be empty. */
export function checkRequired(
  owner: MutableJsonMap,
  name: string,
  path: string,
  explain: (text: string) => readonly string[] = () => [],
): readonly FieldError[] {
  const text = textAt(owner, name);
  return text === '' ? [requiredField(`${path}.${name}`)] : checkFormat(`${path}.${name}`, text, explain);
}

/** Checks that numbers are absent or not negative. */
export function checkCounts(owner: MutableJsonMap, fields: readonly string[], path: string): readonly FieldError[] {
  return fields.flatMap((field) => {
    const value = ownValue(owner, field);
    if ((typeof value !== 'number' && typeof value !== 'bigint') || value >= 0) return [];
    return [invalidField(`${path}.${field}`, value, 'must be greater than or equal to 0')];
  });
}

/** Checks that a value is one of the known ones, or absent. */
export function checkOneOf(
  owner: MutableJsonMap,
  name: string,
  path: string,
  known: readonly string[],
): readonly FieldError[] {
  const value = ownValue(owner, name);
  if (value === undefined || known.some((one) => one === value)) return none;
  return [unsupportedField(`${path}.${name}`, value, known)];
}

/** Checks labels, or a selector that is a map of labels. */
export function checkLabels(field: string, labels: unknown): readonly FieldError[] {
  return Object.entries(isMap(labels) ? labels : {}).flatMap(([key, value]) => [
    ...checkFormat(field, key, explainQualifiedName),
    ...(typeof value === 'string' ? checkFormat(field, value, explainLabelValue) : []),
  ]);
}

/** Checks the keys of annotations; capital letters are valid in a prefix. */
export function checkAnnotationKeys(field: string, annotations: unknown): readonly FieldError[] {
  return Object.keys(isMap(annotations) ? annotations : {}).flatMap((key) =>
    explainQualifiedName(key.toLowerCase()).map((message) => invalidField(field, key, message)),
  );
}

/** Upstream `TotalAnnotationSizeLimitB`: keys and values together. */
export const annotationBytesMax = 256 * 1024;

export function annotationBytesOf(annotations: Readonly<Record<string, unknown>>): number {
  return Object.entries(annotations)
    .flat()
    .reduce<number>((sum, text) => sum + Buffer.byteLength(textOf(text)), 0);
}

/** Checks a selector of labels (upstream `ValidateLabelSelector`). */
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

/** Checks that an operator has the values that it needs. */
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
