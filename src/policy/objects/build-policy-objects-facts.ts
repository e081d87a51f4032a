import { policyObjectName } from '../../machinery/api/node-lifecycle-policy.ts';
import type { PolicyObjectsFacts } from '../../controller/explain/facts.ts';
import type { PolicyAssessments } from './decide-policies-in-force.ts';

/** For the status page, in the order of the names. */
export function buildPolicyObjectsFacts(assessments: PolicyAssessments): PolicyObjectsFacts {
  const all = [...assessments.values()].sort((a, b) => (a.object.name < b.object.name ? -1 : 1));
  return {
    inForce: all.filter(({ inForce }) => inForce !== undefined).length,
    refused: all
      .filter(({ reason }) => reason !== 'Valid')
      .map(({ object, problems, inForce }) => {
        return { object: policyObjectName(object.name), problems, generation: inForce?.generation ?? null };
      }),
    annotations: all.flatMap(({ object, reset }) => {
      return reset?.problem === undefined ? [] : [{ object: policyObjectName(object.name), problem: reset.problem }];
    }),
  };
}
