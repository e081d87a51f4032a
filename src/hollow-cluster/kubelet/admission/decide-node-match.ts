import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm, Pod } from '../../../machinery/api/pod.ts';

/** True if the node matches the pod's node selector and its required node affinity. */
export function decideNodeMatch(pod: Pod, node: Node): boolean {
  const { nodeSelector = {}, affinity } = pod.spec ?? {};
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => ownValue(labels, key) === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node));
}

/** An empty term matches no node. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  const fields: Readonly<Record<string, string>> = { 'metadata.name': node.metadata.name ?? '' };
  return (
    matchExpressions.every((requirement) => meets(requirement, ownValue(labels, requirement.key))) &&
    matchFields.every((requirement) => meets(requirement, ownValue(fields, requirement.key)))
  );
}

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare(value, values[0]) > 0;
    case 'Lt':
      return compare(value, values[0]) < 0;
    default:
      return false;
  }
}

/** NaN, which is neither less nor greater, if one of them is not an integer. */
function compare(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined || !whole.test(a) || !whole.test(b)) return Number.NaN;
  return Number(BigInt(a) - BigInt(b));
}

const whole = /^-?\d+$/;
