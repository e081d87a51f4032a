// Rules between fields and between policies. Each policy is valid by itself.
import { parseGoDuration } from '../../api/go-duration.ts';
import { parseTimestamp } from '../../api/timestamps.ts';
import { refusal } from './describe-schema-issue.ts';
import type { PolicyInput } from './policy-schema.ts';

type RequirementInput = NonNullable<PolicyInput['nodeSelector']['matchExpressions']>[number];

/** All problems of these policies; each names the field, what is accepted and the value. */
export function validatePolicies(policies: readonly PolicyInput[]): readonly string[] {
  return [
    ...policies.flatMap(validateSelector),
    ...policies.flatMap(validateDurations),
    ...policies.flatMap(validateLimits),
    ...validateNames(policies),
  ];
}

function validateSelector({ nodeSelector }: PolicyInput, index: number): readonly string[] {
  const path = ['policies', index, 'nodeSelector'];
  const { matchLabels = {}, matchExpressions = [] } = nodeSelector;
  // All nodes are what the settings beside the policies are for.
  if (Object.keys(matchLabels).length + matchExpressions.length === 0)
    return [refusal(path, 'a selector with at least one requirement', nodeSelector)];
  return matchExpressions.flatMap((requirement, place) => {
    return validateValues(requirement, [...path, 'matchExpressions', place, 'values']);
  });
}

const durationFields = ['nodeMonitorGracePeriod', 'nodeStartupGracePeriod'] as const;

/** A pattern cannot exclude durations that are too long, or too short to be a nanosecond. */
function validateDurations(policy: PolicyInput, index: number): readonly string[] {
  return durationFields.flatMap((field) => {
    return validateDuration(policy[field], ['policies', index, field]);
  });
}

function validateDuration(text: string | undefined, path: readonly PropertyKey[]): readonly string[] {
  const isValid = text === undefined || (parseGoDuration(text) ?? 0) > 0;
  return isValid ? [] : [refusal(path, 'a duration > 0 and below 292 years', text)];
}

function validateLimits({ limits }: PolicyInput, index: number): readonly string[] {
  if (limits === undefined) return [];
  const path = ['policies', index, 'limits'];
  const { maxUnhealthy, cooldown, resetAt } = limits;
  const isEmpty = maxUnhealthy.percent === undefined && maxUnhealthy.count === undefined;
  const isTime = resetAt === undefined || parseTimestamp(resetAt) !== undefined;
  return [
    ...(isEmpty ? [refusal([...path, 'maxUnhealthy'], 'percent, count or both', maxUnhealthy)] : []),
    ...validateDuration(cooldown, [...path, 'cooldown']),
    ...(isTime ? [] : [refusal([...path, 'resetAt'], 'an RFC 3339 time, such as 2026-11-23T18:00:00Z', resetAt)]),
  ];
}

function validateValues({ operator, values }: RequirementInput, path: readonly PropertyKey[]): readonly string[] {
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues === (values !== undefined)) return [];
  return [refusal(path, needsValues ? `set with operator ${operator}` : `absent with operator ${operator}`, values)];
}

function validateNames(policies: readonly PolicyInput[]): readonly string[] {
  return policies.flatMap(({ name }, index) => {
    const first = policies.findIndex((policy) => policy.name === name);
    return first === index ? [] : [refusal(['policies', index, 'name'], `unique; policies[${first}] has it too`, name)];
  });
}
