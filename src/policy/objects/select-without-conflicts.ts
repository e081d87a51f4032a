import { matchesLabels } from '../../machinery/api/label-selector.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { sameJson } from '../../machinery/api/json-values.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { canClaimEqually } from '../../controller/policies/decide-equal-claims.ts';
import type { PolicyAssessments } from './decide-policies-in-force.ts';

/**
 * Selects assessments without those deleted objects with which a new or changed policy claims a node equally, and
 * claimed none before: of two such policies neither applies to the node, so a deleted one would end the protection by
 * the one that replaces it. `before`: the assessments so far. `nodes`: all that are known.
 */
export function selectWithoutConflicts(
  assessments: PolicyAssessments,
  before: PolicyAssessments,
  deleted: ReadonlySet<string>,
  nodes: () => Iterable<LabeledNode>,
): PolicyAssessments {
  if (deleted.size === 0) return assessments;
  const changes = selectChanges(assessments, before);
  return new Map(
    [...assessments].filter(([name, { inForce }]) => {
      return !deleted.has(name) || inForce === undefined || !isReplaced(inForce.policy, changes, nodes);
    }),
  );
}

function isReplaced(policy: NodePolicy, changes: readonly PolicyChange[], nodes: () => Iterable<LabeledNode>): boolean {
  const possible = changes.filter(({ is }) => canClaimEqually(is, policy));
  // Every node is compared with a deleted policy, but only its own with each change.
  const own = possible.length === 0 ? [] : [...nodes()].filter(({ labels }) => matchesLabels(policy.selector, labels));
  const claims = (other: NodePolicy): boolean =>
    canClaimEqually(other, policy) && own.some(({ labels }) => matchesLabels(other.selector, labels));
  return possible.some(({ was, is }) => claims(is) && !(was !== undefined && claims(was)));
}

type LabeledNode = Pick<NodeView, 'labels'>;

interface PolicyChange {
  readonly was: NodePolicy | undefined;
  readonly is: NodePolicy;
}

function selectChanges(assessments: PolicyAssessments, before: PolicyAssessments): readonly PolicyChange[] {
  return [...assessments].flatMap(([name, { inForce }]) => {
    const [was, is] = [before.get(name)?.inForce?.policy, inForce?.policy];
    // A guard claims nothing: it holds beside the others.
    return is === undefined || is.isGuard === true || sameJson(was, is) ? [] : [{ was, is }];
  });
}
