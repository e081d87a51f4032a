// Settings of the config file and policies that are objects of the API, together.
import type { ReadPolicyObject } from '../../policy/objects/decide-policies-in-force.ts';
import { policyObjectName } from '../../machinery/api/node-lifecycle-policy.ts';
import { readGuard, readPolicyObject } from '../../policy/schema/policy-object-reader.ts';
import type { ConfigOutcome, ControllerConfig } from './config.ts';
import { validatePolicyGrace } from './rules.ts';

/** The policy of an object, if it is also valid with these settings. */
export function readPolicyUnder(
  { nodeMonitorPeriodMs }: Pick<ControllerConfig, 'nodeMonitorPeriodMs'>,
  object: Parameters<ReadPolicyObject>[0],
): ReturnType<ReadPolicyObject> {
  const read = readPolicyObject(object);
  if ('problems' in read) return read;
  const problems = validatePolicyGrace(read.policy, nodeMonitorPeriodMs, 'spec.nodeMonitorGracePeriod');
  return problems.length > 0 ? { problems, guard: readGuard(object) } : read;
}

/** A file whose settings would make policies invalid that are in force is rejected, as if the policies were in it. */
export function validateWithPolicies(
  outcome: ConfigOutcome,
  { policies, policySource }: Pick<ControllerConfig, 'policies' | 'policySource'>,
): ConfigOutcome {
  if ('problems' in outcome || policySource === 'file') return outcome;
  const problems = policies.flatMap((policy) => {
    const path = `${policyObjectName(policy.name)}: spec.nodeMonitorGracePeriod`;
    return validatePolicyGrace(policy, outcome.values.nodeMonitorPeriodMs, path);
  });
  return problems.length > 0 ? { problems } : outcome;
}

/** A reload of the file changes no policy that is an object. */
export function withPoliciesInForce(
  config: ControllerConfig,
  { policies, policySource }: Pick<ControllerConfig, 'policies' | 'policySource'>,
): ControllerConfig {
  return policySource === 'file' ? config : Object.freeze({ ...config, policies });
}
