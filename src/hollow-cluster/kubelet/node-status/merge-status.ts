import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';

/**
 * The node with these fields of the status. A part with an equal value stays the same object, and so does the node if
 * nothing changes: most statuses are computed only to find that nothing changed.
 */
export function mergeStatus(node: Node, fields: NonNullable<Node['status']>): Node {
  return sameFields(node.status ?? {}, fields) ? node : { ...node, status: { ...node.status, ...fields } };
}

/** The node without this field of the status; the same node if it has none. */
export function withoutField(node: Node, field: keyof NonNullable<Node['status']>): Node {
  if (node.status?.[field] === undefined) return node;
  const { [field]: _, ...status } = node.status;
  return { ...node, status };
}

function sameFields(status: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).every((name) => sameJson(ownValue(status, name), ownValue(fields, name)));
}
