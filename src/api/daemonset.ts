import type { KubeObject } from './meta.ts';
import type { Labels } from './topology.ts';

export interface LabelExpression {
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

export interface LabelSelector {
  readonly matchLabels?: Labels | null;
  readonly matchExpressions?: readonly LabelExpression[] | null;
}

/** A DaemonSet as on the wire, as far as we read it. */
export interface DaemonSet extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector | null };
}

/** What the controller keeps of a DaemonSet: enough to know its pods. */
export interface DaemonSetView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** All of them must hold. Empty selects nothing. */
  readonly selector: readonly LabelExpression[];
}

/**
 * Projects a DaemonSet while it is decoded. Never throws. A selector with a part that is none selects nothing: what we do
 * not understand must not widen it.
 */
export function viewDaemonSet({ metadata, spec }: DaemonSet): DaemonSetView {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    selector: listExpressions(spec?.selector),
  };
}

/** Whether the selector names these labels (upstream `GetPodDaemonSets`: nil and empty selectors name nothing). */
export function selectsLabels({ selector }: Pick<DaemonSetView, 'selector'>, labels: Labels): boolean {
  return selector.length > 0 && selector.every((expression) => holds(expression, labels));
}

function holds({ key, operator, values }: LabelExpression, labels: Labels): boolean {
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
  return !operator.needsValues || ('values' in item && isTexts(item.values));
}

function isTexts(values: unknown): boolean {
  return Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
}
