/** LimitRanges and ResourceQuotas (upstream `ValidateLimitRange`, `ValidateResourceQuotaSpec`). */
import { ownValue } from '../../api/json-map.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { sameJson } from '../../api/same-json.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from '../api-errors/field-errors.ts';
import { mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { findRepeated } from '../validation/find-repeated.ts';
import { explainQualifiedName } from '../validation/formats.ts';
import {
  checkAmount,
  checkContainerResourceName,
  checkQuotaResourceName,
  checkResourceName,
  compareQuantities,
  isQuotaResource,
  quantitiesAt,
} from '../validation/resources.ts';

const limitTypes: ReadonlySet<string> = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);
const sides = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type Side = (typeof sides)[number];

export function validateLimitRange({ spec }: Draft): readonly FieldError[] {
  const limits = mapsAt(spec, 'limits');
  const repeated = findRepeated(limits.map((limit) => textAt(limit, 'type')));
  return limits.flatMap((limit, index) => {
    const path = `spec.limits[${index}]`;
    const type = textAt(limit, 'type');
    return [
      ...validateLimitType(type, `${path}.type`),
      ...(repeated.has(index) ? [duplicateField(`${path}.type`, type)] : []),
      ...validateLimit(limit, type, path),
    ];
  });
}

function validateLimitType(type: string, field: string): readonly FieldError[] {
  const problems = explainQualifiedName(type);
  if (problems.length > 0) return problems.map((message) => invalidField(field, type, message));
  if (limitTypes.has(type) || type.includes('/')) return [];
  return [invalidField(field, type, 'must be a standard limit type or fully qualified')];
}

function validateLimit(limit: MutableJsonMap, type: string, path: string): readonly FieldError[] {
  const ofPod = type === 'Pod' ? (['default', 'defaultRequest'] as const) : [];
  const forbidden = ofPod.filter((side) => limit[side] !== undefined);
  const used = sides.filter((side) => !ofPod.some((one) => one === side));
  const names = new Set(used.flatMap((side) => Object.keys(mapAt(limit, side))));
  return [
    ...forbidden.map((side) => forbiddenField(`${path}.${side}`, "may not be specified when `type` is 'Pod'")),
    ...validateClaimLimit(limit, type, path),
    ...used.flatMap((side) => validateNames(limit, side, type, path)),
    ...[...names].flatMap((name) => validateOrder(limit, name, path, type === 'Pod')),
  ];
}

function validateClaimLimit(limit: MutableJsonMap, type: string, path: string): readonly FieldError[] {
  const hasSize = ['min', 'max'].some((side) => mapAt(limit, side)['storage'] !== undefined);
  if (type !== 'PersistentVolumeClaim' || hasSize) return [];
  const detail = 'either minimum or maximum storage value is required, but neither was provided';
  return [requiredField(`${path}.limits`, detail)];
}

function validateNames(limit: MutableJsonMap, side: Side, type: string, path: string): readonly FieldError[] {
  const check = type === 'Pod' || type === 'Container' ? checkContainerResourceName : checkResourceName;
  return quantitiesAt(limit, side).flatMap(([name]) => check(name, `${path}.${side}[${name}]`));
}

/** Of two sides of a limit: the one must not exceed the other. */
interface Order {
  readonly low: Side;
  readonly high: Side;
  /** The side that is wrong. */
  readonly field: Side;
  /** The side whose value the message shows. */
  readonly shown: Side;
  readonly text: readonly [string, string];
}

const orders: readonly Order[] = [
  { low: 'min', high: 'max', field: 'min', shown: 'min', text: ['min', 'max'] },
  {
    low: 'min',
    high: 'defaultRequest',
    field: 'defaultRequest',
    shown: 'defaultRequest',
    text: ['min', 'default request'],
  },
  {
    low: 'defaultRequest',
    high: 'max',
    field: 'defaultRequest',
    shown: 'defaultRequest',
    text: ['default request', 'max'],
  },
  {
    low: 'defaultRequest',
    high: 'default',
    field: 'defaultRequest',
    shown: 'defaultRequest',
    text: ['default request', 'default limit'],
  },
  { low: 'min', high: 'default', field: 'default', shown: 'min', text: ['min', 'default'] },
  { low: 'default', high: 'max', field: 'default', shown: 'max', text: ['default', 'max'] },
];

/** min <= defaultRequest <= default <= max, each where it is given. */
function validateOrder(limit: MutableJsonMap, name: string, path: string, isPod: boolean): readonly FieldError[] {
  const at = (side: Side): string | undefined => {
    const value = isPod && side.startsWith('default') ? undefined : ownValue(mapAt(limit, side), name);
    return typeof value === 'string' ? value : undefined;
  };
  const errors = orders.flatMap(({ low, high, field, shown, text }) => {
    const [a, b] = [at(low), at(high)];
    if (a === undefined || b === undefined || compareQuantities(a, b) <= 0) return [];
    const detail = `${text[0]} value ${a} is greater than ${text[1]} value ${b}`;
    return [invalidField(`${path}.${field}[${name}]`, shown === low ? a : b, detail)];
  });
  const ratio = validateRatio(
    at('maxLimitRequestRatio'),
    at('min'),
    at('max'),
    `${path}.maxLimitRequestRatio[${name}]`,
  );
  return [...errors, ...ratio];
}

function validateRatio(
  ratio: string | undefined,
  min: string | undefined,
  max: string | undefined,
  field: string,
): readonly FieldError[] {
  if (ratio === undefined) return [];
  const value = parseQuantity(ratio) ?? 0;
  const errors = value < 1 ? [invalidField(field, ratio, `ratio ${ratio} is less than 1`)] : [];
  if (min === undefined || max === undefined) return errors;
  const limit = (parseQuantity(max) ?? 0) / (parseQuantity(min) ?? 0);
  if (value <= limit) return errors;
  return [...errors, invalidField(field, ratio, `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`)];
}

const scopes: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]);
const presenceOnly: ReadonlySet<string> = new Set([
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
]);
const computeResources: ReadonlySet<string> = new Set([
  'pods',
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
]);
const excluding = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

export function validateQuota({ spec = {} }: Draft): readonly FieldError[] {
  const hard = quantitiesAt(spec, 'hard');
  const names = hard.map(([name]) => name);
  return [
    ...hard.flatMap(([name, value]) => {
      const field = `spec.hard[${name}]`;
      return [...checkQuotaResourceName(name, field), ...checkAmount(name, value, field)];
    }),
    ...validateScopes(spec, names),
    ...mapsAt(spec, 'scopeSelector', 'matchExpressions').flatMap((item) => validateScopeRequirement(item, spec, names)),
  ];
}

function validateScopes(spec: MutableJsonMap, names: readonly string[]): readonly FieldError[] {
  const given: readonly unknown[] = Array.isArray(spec['scopes']) ? spec['scopes'] : [];
  const field = 'spec.scopes';
  return [
    ...given.flatMap((scope) => [
      ...(scopes.has(String(scope)) ? [] : [invalidField(field, given, 'unsupported scope')]),
      ...unsuited(String(scope), names).map(() => invalidField(field, given, 'unsupported scope applied to resource')),
    ]),
    ...excluding
      .filter((pair) => pair.every((scope) => given.includes(scope)))
      .map(() => invalidField(field, given, 'conflicting scopes')),
  ];
}

/** The resources to which a scope does not apply. */
function unsuited(scope: string, names: readonly string[]): readonly string[] {
  const applies = (name: string): boolean => {
    if (scope === 'BestEffort') return name === 'pods';
    if (scope === 'VolumeAttributesClass') return ['persistentvolumeclaims', 'requests.storage'].includes(name);
    return !scopes.has(scope) || computeResources.has(name);
  };
  return names.filter((name) => isQuotaResource(name) && !applies(name));
}

function validateScopeRequirement(
  item: MutableJsonMap,
  spec: MutableJsonMap,
  names: readonly string[],
): readonly FieldError[] {
  const [scope, operator] = [textAt(item, 'scopeName'), textAt(item, 'operator')];
  const path = 'spec.scopeSelector.matchExpressions';
  const presence =
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
  return [
    ...(scopes.has(scope) ? [] : [invalidField(`${path}.scopeName`, scope, 'unsupported scope')]),
    ...unsuited(scope, names).map(() =>
      invalidField(path, spec['scopeSelector'], 'unsupported scope applied to resource'),
    ),
    ...(presenceOnly.has(scope) && operator !== 'Exists' ? [invalidField(`${path}.operator`, operator, presence)] : []),
    ...validateScopeValues(item, operator, path),
  ];
}

function validateScopeValues(item: MutableJsonMap, operator: string, path: string): readonly FieldError[] {
  const values: readonly unknown[] = Array.isArray(item['values']) ? item['values'] : [];
  const field = `${path}.values`;
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return [];
    return [requiredField(field, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return [];
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    return [invalidField(field, values, detail)];
  }
  return [invalidField(`${path}.operator`, operator, 'not a valid selector operator')];
}

/** The scopes may not change; their order may. */
export function validateQuotaChange({ spec }: Draft, { spec: before }: Draft): readonly FieldError[] {
  const sorted = (owner: MutableJsonMap | undefined): readonly unknown[] =>
    Array.isArray(owner?.['scopes'])
      ? [...new Set(owner['scopes'].map(String))].sort((a, b) => a.localeCompare(b))
      : [];
  if (sameJson(sorted(spec), sorted(before))) return [];
  return [invalidField('spec.scopes', spec?.['scopes'] ?? null, 'field is immutable')];
}
