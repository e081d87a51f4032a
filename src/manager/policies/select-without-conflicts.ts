import { sameJson } from '../../api/same-json.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { canClaimEqually } from '../../controller/policies/decide-equal-claims.ts';
import type { PolicyAssessments } from './decide-policies-in-force.ts';

/**
 * Without those deleted objects with which a new or changed policy could conflict, and could not before: of two policies that
 * claim a node equally neither applies, so a deleted one would end the protection by the one that replaces it. `before`: the
 * assessments so far.
 */
export function selectWithoutConflicts(
  assessments: PolicyAssessments,
  before: PolicyAssessments,
  deleted: ReadonlySet<string>,
): PolicyAssessments {
  if (deleted.size === 0) return assessments;
  const changes = selectChanges(assessments, before);
  const isReplaced = (policy: NodePolicy): boolean =>
    changes.some(({ was, is }) => canClaimEqually(is, policy) && !(was !== undefined && canClaimEqually(was, policy)));
  return new Map(
    [...assessments].filter(([name, { inForce }]) => {
      return !deleted.has(name) || inForce === undefined || !isReplaced(inForce.policy);
    }),
  );
}

interface PolicyChange {
  readonly was: NodePolicy | undefined;
  readonly is: NodePolicy;
}

function selectChanges(assessments: PolicyAssessments, before: PolicyAssessments): readonly PolicyChange[] {
  return [...assessments].flatMap(([name, { inForce }]) => {
    const [was, is] = [before.get(name)?.inForce?.policy, inForce?.policy];
    return is === undefined || sameJson(was, is) ? [] : [{ was, is }];
  });
}
