/** Names and quantities of resources (upstream `validateResourceRequirements`). */
import { parseQuantityNano } from '../../../../machinery/api/quantity.ts';
import { type FieldError, invalidField, requiredField } from '../../api-errors/field-errors.ts';
import { mapAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import { explainQualifiedName } from '../../validation/formats.ts';

const ofContainers: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const counted: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const known: ReadonlySet<string> = new Set([
  ...counted,
  ...ofContainers,
  ...[...ofContainers].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  'storage',
]);
const huge = /^(requests\.)?hugepages-/;
const one = 1_000_000_000n;

type Quantities = readonly (readonly [string, string])[];

/** The quantities at a path, by resource. */
export function quantitiesAt(owner: unknown, ...path: readonly string[]): Quantities {
  return Object.entries(mapAt(owner, ...path)).map(([name, value]) => [name, String(value)] as const);
}

/** Negative if `a` is less than `b`. */
function compareQuantities(a: string, b: string): number {
  const difference = (parseQuantityNano(a) ?? 0n) - (parseQuantityNano(b) ?? 0n);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Resources of a container, or the overhead of a pod as its limits. */
export function checkResources(resources: MutableJsonMap, path: string): readonly FieldError[] {
  const limits = mapAt(resources, 'limits');
  return [
    ...quantitiesAt(resources, 'limits').flatMap((item) => checkContainerResource(item, `${path}.limits`)),
    ...quantitiesAt(resources, 'requests').flatMap((item) => [
      ...checkContainerResource(item, `${path}.requests`),
      ...checkBelowLimit(item, limits, path),
    ]),
  ];
}

function checkContainerResource([name, value]: readonly [string, string], path: string): readonly FieldError[] {
  const field = `${path}[${name}]`;
  return [...checkContainerResourceName(name, field), ...checkAmount(name, value, field)];
}

function checkBelowLimit(
  [name, value]: readonly [string, string],
  limits: MutableJsonMap,
  path: string,
): readonly FieldError[] {
  const limit = textAt(limits, name);
  const shared = isNative(name) && !huge.test(name);
  if (limit === '') {
    return shared ? [] : [requiredField(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const order = compareQuantities(value, limit);
  if (order === 0 || (shared && order < 0)) return [];
  const relation = shared ? 'less than or equal to' : 'equal to';
  return [invalidField(`${path}.requests`, value, `must be ${relation} ${name} limit of ${limit}`)];
}

/** Unprefixed names are those of Kubernetes. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function checkResourceName(name: string, field: string): readonly FieldError[] {
  const problems = explainQualifiedName(name);
  if (problems.length > 0) return problems.map((message) => invalidField(field, name, message));
  if (name.includes('/') || known.has(name) || huge.test(name)) return [];
  return [invalidField(field, name, 'must be a standard resource type or fully qualified')];
}

export function checkContainerResourceName(name: string, field: string): readonly FieldError[] {
  const errors = checkResourceName(name, field);
  if (name.includes('/')) {
    if (isNative(name) || !name.startsWith('requests.')) return errors;
    return [...errors, invalidField(field, name, "doesn't follow extended resource name standard")];
  }
  if (ofContainers.has(name) || name.startsWith('hugepages-')) return errors;
  return [...errors, invalidField(field, name, 'must be a standard resource for containers')];
}

/** Not negative, and a whole number for what is counted. */
export function checkAmount(name: string, value: string, field: string): readonly FieldError[] {
  const whole = counted.has(name) || (!isNative(name) && !name.startsWith('requests.'));
  if (!whole && !value.startsWith('-')) return [];
  const amount = parseQuantityNano(value) ?? 0n;
  const errors: FieldError[] = [];
  if (amount < 0n) errors.push(invalidField(field, value, 'must be greater than or equal to 0'));
  if (whole && amount % one !== 0n) errors.push(invalidField(field, value, 'must be an integer'));
  return errors;
}
