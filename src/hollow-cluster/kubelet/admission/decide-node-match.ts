import { ownValue } from '../../../machinery/api/json-map.ts';
import { meetsRequirement } from '../../../machinery/api/label-selector.ts';
import type { Node } from '../../../machinery/api/node.ts';
import type { NodeSelectorTerm, Pod } from '../../../machinery/api/pod.ts';

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
    matchExpressions.every((requirement) => meetsRequirement(requirement, ownValue(labels, requirement.key))) &&
    matchFields.every((requirement) => meetsRequirement(requirement, ownValue(fields, requirement.key)))
  );
}
