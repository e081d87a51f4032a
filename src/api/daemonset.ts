import type { KubeObject } from './meta.ts';
import type { Labels } from './topology.ts';

interface LabelExpression {
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

export interface LabelSelector {
  readonly matchLabels?: Labels | null;
  readonly matchExpressions?: readonly LabelExpression[] | null;
}

/** A DaemonSet as on the wire; only the fields that are read. */
export interface DaemonSet extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector | null };
}

/** The fields of a DaemonSet that the controller caches: enough to match its pods. */
export interface DaemonSetView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** All requirements must match. An empty list selects nothing. */
  readonly selector: readonly LabelExpression[];
}

/**
 * Transforms a DaemonSet while it is decoded. Never throws. A selector with a malformed part selects nothing: an
 * unsupported requirement must not widen the selector.
 */
export function transformDaemonSet({ metadata, spec }: DaemonSet): DaemonSetView {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    selector: listExpressions(spec?.selector),
  };
}

/** Whether the selector matches these labels (upstream `GetPodDaemonSets`: nil and empty selectors match nothing). */
export function selectsLabels({ selector }: Pick<DaemonSetView, 'selector'>, labels: Labels): boolean {
  return selector.length > 0 && selector.every((expression) => matches(expression, labels));
}

function matches({ key, operator, values }: LabelExpression, labels: Labels): boolean {
  const value = labels[key];
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
      return false;
  }
}

function listExpressions(selector: LabelSelector | null | undefined): readonly LabelExpression[] {
  const labels: unknown = selector?.matchLabels ?? {};
  const expressions: unknown = selector?.matchExpressions ?? [];
  if (typeof labels !== 'object' || labels === null || !Array.isArray(expressions)) return [];
  const equal = Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const all: readonly unknown[] = [...equal, ...(expressions as readonly unknown[])];
  return all.every(isExpression) ? all : [];
}

const operators: ReadonlyMap<string, { readonly needsValues: boolean }> = new Map([
  ['In', { needsValues: true }],
  ['NotIn', { needsValues: true }],
  ['Exists', { needsValues: false }],
  ['DoesNotExist', { needsValues: false }],
]);

function isExpression(item: unknown): item is LabelExpression {
  if (typeof item !== 'object' || item === null || !('key' in item) || !('operator' in item)) return false;
  if (typeof item.key !== 'string' || typeof item.operator !== 'string') return false;
  const operator = operators.get(item.operator);
  if (operator === undefined) return false;
  return !operator.needsValues || ('values' in item && isStringList(item.values));
}

function isStringList(values: unknown): boolean {
  return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}
