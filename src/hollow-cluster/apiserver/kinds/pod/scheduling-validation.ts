/** Tolerations and required node affinity (upstream `ValidateTolerations`, `validateNodeAffinity`). */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../api-errors/field-errors.ts';
import { isMap, mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { checkFormat, checkOneOf, checkValues } from '../../validation/field-checks.ts';
import { explainLabelValue, explainQualifiedName } from '../../validation/formats.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
const required = 'requiredDuringSchedulingIgnoredDuringExecution';

export function checkTolerations(
  tolerations: readonly MutableJsonMap[],
  path: string,
  options: PodValidationOptions,
): readonly FieldError[] {
  return tolerations.flatMap((toleration, index) => checkToleration(toleration, `${path}[${index}]`, options));
}

function checkToleration(
  toleration: MutableJsonMap,
  path: string,
  options: PodValidationOptions,
): readonly FieldError[] {
  const [key, operator, effect] = ['key', 'operator', 'effect'].map((field) => textAt(toleration, field));
  const errors = key === '' ? [] : [...checkFormat(`${path}.key`, key ?? '', explainQualifiedName)];
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalidField(`${path}.operator`, operator, detail));
  }
  if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
    errors.push(invalidField(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  errors.push(...checkTolerationValue(toleration, path, options));
  return effect === '' ? errors : [...errors, ...checkOneOf(toleration, 'effect', path, effects)];
}

function checkTolerationValue(
  toleration: MutableJsonMap,
  path: string,
  { comparingTolerations }: PodValidationOptions,
): readonly FieldError[] {
  const [operator, value] = [textAt(toleration, 'operator'), textAt(toleration, 'value')];
  const field = `${path}.operator`;
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = explainLabelValue(value);
      return problems.length === 0 ? [] : [invalidField(field, value, problems.join(';'))];
    }
    case 'Exists':
      return value === '' ? [] : [invalidField(field, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return comparingTolerations
        ? checkComparedValue(value, `${path}.value`)
        : [unsupportedField(field, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [unsupportedField(field, operator, ['Equal', 'Exists'])];
  }
}

const decimalInteger = /^(?:0|-?[1-9][0-9]*)$/u;
const signedDigits = /^[+-]?[0-9]+$/u;

/** Checks the value of a toleration that compares: an integer of 64 bits in canonical form, read twice upstream. */
function checkComparedValue(value: string, field: string): readonly FieldError[] {
  const form = value === '' ? 'must be non-empty' : 'must be a valid decimal integer in canonical form';
  const unread = explainParseInt(value);
  return [
    ...(decimalInteger.test(value) ? [] : [invalidField(field, value, form)]),
    ...(unread === undefined ? [] : [invalidField(field, value, unread)]),
  ];
}

/** The error of `strconv.ParseInt(value, 10, 64)`. The longest integers have 19 digits beside leading zeros. */
function explainParseInt(value: string): string | undefined {
  const failed = `strconv.ParseInt: parsing ${JSON.stringify(value)}`;
  if (!signedDigits.test(value)) return `${failed}: invalid syntax`;
  const digits = value.replace(/^\+/u, '').replace(/^(-?)0+(?=[0-9])/u, '$1');
  const fits = digits.length <= 20 && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
  return fits ? undefined : `${failed}: value out of range`;
}

/** Required terms of `nodeAffinity`; pod affinity and preferences are not checked: nothing here reads them. */
export function checkNodeAffinity(affinity: MutableJsonMap, path: string): readonly FieldError[] {
  const needed = affinity[required];
  const terms = mapsAt(needed, 'nodeSelectorTerms');
  const own = `${path}.${required}.nodeSelectorTerms`;
  const none = isMap(needed) && terms.length === 0;
  return [
    ...(none ? [requiredField(own, 'must have at least one node selector term')] : []),
    ...terms.flatMap((term, index) => checkNodeTerm(term, `${own}[${index}]`)),
  ];
}

function checkNodeTerm(term: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...mapsAt(term, 'matchExpressions').flatMap((item, index) =>
      checkNodeRequirement(item, `${path}.matchExpressions[${index}]`),
    ),
    ...mapsAt(term, 'matchFields').flatMap((item, index) =>
      checkFieldRequirement(item, `${path}.matchFields[${index}]`),
    ),
  ];
}

function checkNodeRequirement(item: MutableJsonMap, path: string): readonly FieldError[] {
  const values: readonly unknown[] = Array.isArray(item['values']) ? item['values'] : [];
  const operator = textAt(item, 'operator');
  const ofKey = checkFormat(`${path}.key`, textAt(item, 'key'), explainQualifiedName);
  if (operator !== 'Gt' && operator !== 'Lt') return [...checkValues(path, operator, values), ...ofKey];
  const detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
  return values.length === 1 ? ofKey : [requiredField(`${path}.values`, detail), ...ofKey];
}

/** Checks a field requirement: only the name of a node can be selected. */
function checkFieldRequirement(item: MutableJsonMap, path: string): readonly FieldError[] {
  const key = textAt(item, 'key');
  const values: readonly unknown[] = Array.isArray(item['values']) ? item['values'] : [];
  const ofKey = key === 'metadata.name' ? [] : [invalidField(`${path}.key`, key, 'not a valid field selector key')];
  const operator = textAt(item, 'operator');
  if (operator !== 'In' && operator !== 'NotIn') {
    return [invalidField(`${path}.operator`, operator, 'not a valid selector operator'), ...ofKey];
  }
  if (values.length === 1) return ofKey;
  const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
  return [requiredField(`${path}.values`, detail), ...ofKey];
}
