/** Label selectors as of Kubernetes' LabelSelector: a list of requirements, all of which must match. */
import { ownValue } from './json-map.ts';
import type { Labels } from './topology.ts';

export interface LabelRequirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[] | null | undefined;
}

export interface LabelSelector {
  readonly matchLabels?: Labels | null | undefined;
  readonly matchExpressions?: readonly LabelRequirement[] | null | undefined;
}

/** Whether all requirements match these labels. An empty list matches nothing. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Labels): boolean {
  return requirements.length > 0 && requirements.every((each) => meetsRequirement(each, ownValue(labels, each.key)));
}

/** Whether a selector matches these labels: one without requirements matches all, a missing or malformed one nothing. */
export function selectsLabels(selector: LabelSelector | null | undefined, labels: Labels): boolean {
  return compileSelector(selector)(labels);
}

/** Compiled selector, for the labels of many objects. */
export function compileSelector(selector: LabelSelector | null | undefined): (labels: Labels) => boolean {
  if (selector === undefined || selector === null) return () => false;
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
  if (isEmpty) return () => true;
  const requirements = listRequirements(selector);
  return (labels) => matchesLabels(requirements, labels);
}

/**
 * The requirements of a selector; none if a part of it is malformed: an unsupported requirement must not widen the
 * selector.
 */
export function listRequirements(selector: LabelSelector | null | undefined): readonly LabelRequirement[] {
  const labels: unknown = selector?.matchLabels ?? {};
  const expressions: unknown = selector?.matchExpressions ?? [];
  if (typeof labels !== 'object' || labels === null || !Array.isArray(expressions)) return [];
  const equal = Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const all: readonly unknown[] = [...equal, ...(expressions as readonly unknown[])];
  return all.every(isRequirement) ? all : [];
}

/**
 * Whether the value of a label, undefined without one, is as required. `Gt` and `Lt`, which node selectors and queries have
 * too, compare integers.
 */
export function meetsRequirement(
  { operator, values }: Omit<LabelRequirement, 'key'>,
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values?.includes(value) === true;
    case 'NotIn':
      return value === undefined || values?.includes(value) !== true;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return compares(operator, value, values?.[0]);
  }
}

/** False for another operator, and if one of the two is not an integer. */
function compares(operator: string, value = '', bound = ''): boolean {
  if (!integerText.test(value) || !integerText.test(bound)) return false;
  if (operator === 'Gt') return BigInt(value) > BigInt(bound);
  return operator === 'Lt' && BigInt(value) < BigInt(bound);
}

const integerText = /^-?\d+$/;

const operators: ReadonlyMap<string, { readonly needsValues: boolean }> = new Map([
  ['In', { needsValues: true }],
  ['NotIn', { needsValues: true }],
  ['Exists', { needsValues: false }],
  ['DoesNotExist', { needsValues: false }],
]);

function isRequirement(item: unknown): item is LabelRequirement {
  if (typeof item !== 'object' || item === null || !('key' in item) || !('operator' in item)) return false;
  if (typeof item.key !== 'string' || typeof item.operator !== 'string') return false;
  const operator = operators.get(item.operator);
  if (operator === undefined) return false;
  return !operator.needsValues || ('values' in item && isStringList(item.values));
}

function isStringList(values: unknown): boolean {
  return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}
