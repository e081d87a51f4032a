import { sameJson } from '../../api/same-json.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { canClaimEqually } from '../../controller/policies/decide-equal-claims.ts';
import type { PolicyAssessments } from './decide-policies-in-force.ts';

/**
 * Without those deleted objects that a new or changed policy could conflict with: of two policies that claim a node equally
 * neither applies, so a deleted one would end the protection by the one that replaces it. `before`: the assessments so far.
 */
export function selectWithoutConflicts(
  assessments: PolicyAssessments,
  before: PolicyAssessments,
  deleted: ReadonlySet<string>,
): PolicyAssessments {
  if (deleted.size === 0) return assessments;
  const changed = selectChanged(assessments, before);
  return new Map(
    [...assessments].filter(([name, { inForce }]) => {
      const isReplaced = inForce !== undefined && changed.some((policy) => canClaimEqually(policy, inForce.policy));
      return !(deleted.has(name) && isReplaced);
    }),
  );
}

function selectChanged(assessments: PolicyAssessments, before: PolicyAssessments): readonly NodePolicy[] {
  return [...assessments].flatMap(([name, { inForce }]) => {
    const isSame = sameJson(before.get(name)?.inForce?.policy, inForce?.policy);
    return inForce === undefined || isSame ? [] : [inForce.policy];
  });
}
