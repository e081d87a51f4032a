import { ownValue } from '../../machinery/api/json-map.ts';
import type { NodeView } from '../../machinery/api/node.ts';

/** Whether anything changed that a decision depends on. A heartbeat alone does not: it only moves a deadline. */
export function affectsDecisions(before: NodeView, after: NodeView): boolean {
  return (
    plain.some((field) => before[field] !== after[field]) ||
    fingerprint(before) !== fingerprint(after) ||
    !sameLabels(before.labels, after.labels)
  );
}

const plain = ['uid', 'bootID', 'unschedulable', 'pause', 'fenced', 'outOfService', 'flapping'] as const;

function fingerprint(node: NodeView): string {
  const conditions = node.conditions.map(({ type, status }) => `${type}=${status}`);
  const taints = node.taints.map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`);
  return [...conditions, '|', ...taints, '|', ...(node.vetoes ?? [])].join(',');
}

function sameLabels(a: NodeView['labels'], b: NodeView['labels']): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => ownValue(a, key) === ownValue(b, key));
}
