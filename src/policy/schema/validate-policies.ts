// Rules between fields and between policies. Each policy is valid by itself.
import { heartbeatConditionTypes, maintenanceConditions } from '../../machinery/api/conditions.ts';
import { parseGoDuration } from '../../machinery/api/go-duration.ts';
import { healthTaintKeys, outOfServiceTaintKey } from '../../machinery/api/taints.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import { evictionLimits } from '../../controller/model/policy.ts';
import { refusal } from './describe-schema-issue.ts';
import type { PolicyInput } from './policy-schema.ts';
import { decodeZones, flappingMaxDefault } from './decode-policies.ts';

type RequirementInput = NonNullable<PolicyInput['nodeSelector']['matchExpressions']>[number];

/** All problems of these policies; each names the field, what is accepted and the value. */
export function validatePolicies(policies: readonly PolicyInput[]): readonly string[] {
  return [
    ...policies.flatMap(validateSelector),
    ...policies.flatMap(validateDurations),
    ...policies.flatMap(validateMaintenance),
    ...policies.flatMap(validateLimits),
    ...policies.flatMap(validateOutOfService),
    ...policies.flatMap(validateOuterDomain),
    ...policies.flatMap(validateFlapping),
    ...policies.flatMap(validateDetect),
    ...policies.flatMap(validateVetoes),
    ...policies.flatMap(validateEarlyWarning),
    ...policies.flatMap(validateDetection),
    ...policies.flatMap(validateSchedules),
    ...policies.flatMap(({ evictReachable }, index) => {
      return validateDuration(evictReachable?.timeout, ['policies', index, 'evictReachable', 'timeout']);
    }),
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

const durationFields = [
  'nodeMonitorGracePeriod',
  'nodeStartupGracePeriod',
  'terminatingTimeout',
  'markPodsOfNotReadyAfter',
] as const;

/** A pattern cannot exclude durations that are too long, or too short to be a nanosecond. */
function validateDurations(policy: PolicyInput, index: number): readonly string[] {
  return durationFields.flatMap((field) => validateDuration(policy[field], ['policies', index, field]));
}

function validateDuration(text: string | undefined, path: readonly PropertyKey[]): readonly string[] {
  const isValid = text === undefined || (parseGoDuration(text) ?? 0) > 0;
  return isValid ? [] : [refusal(path, 'a duration > 0 and below 292 years', text)];
}

/** Conditions that become Unknown when the node becomes silent, so they cannot show that this was planned. */
const healthConditions: ReadonlySet<string> = new Set(heartbeatConditionTypes);
/** Taints that follow from the health of the node, which they would hold. */
const healthTaints: ReadonlySet<string> = new Set(healthTaintKeys);

function validateMaintenance({ maintenance }: PolicyInput, index: number): readonly string[] {
  if (maintenance === undefined) return [];
  const path = ['policies', index, 'maintenance'];
  const conditions: readonly string[] = maintenance.conditions ?? maintenanceConditions;
  const { taints = [], holdsWhileSilent = [], maxDuration, maxTotal } = maintenance;
  const isEmpty = conditions.length === 0 && taints.length === 0;
  return [
    ...validateDuration(maxDuration, [...path, 'maxDuration']),
    ...validateDuration(maxTotal, [...path, 'maxTotal']),
    ...holdsWhileSilent
      .filter((type) => !conditions.includes(type))
      .map((type) => refusal([...path, 'holdsWhileSilent'], `some of the conditions (${conditions.join(', ')})`, type)),
    ...(isEmpty ? [refusal(path, 'set with at least one condition or taint', maintenance)] : []),
    ...validateNone(conditions, healthConditions, [...path, 'conditions']),
    ...validateNone(taints, healthTaints, [...path, 'taints']),
  ];
}

/** What follows from silence proves no fencing, and no more does the taint that it would add. */
const silenceTaints: ReadonlySet<string> = new Set([...healthTaintKeys, outOfServiceTaintKey]);

function validateOutOfService({ outOfService }: PolicyInput, index: number): readonly string[] {
  const path = ['policies', index, 'outOfService'];
  return [
    ...validateNone(outOfService?.conditions, healthConditions, [...path, 'conditions']),
    ...validateNone(outOfService?.taints, silenceTaints, [...path, 'taints']),
  ];
}

/** A label of both levels would say the same twice. */
function validateOuterDomain({ failureDomain, outerFailureDomain }: PolicyInput, index: number): readonly string[] {
  if (outerFailureDomain === undefined) return [];
  const path = ['policies', index, 'outerFailureDomain'];
  if (failureDomain === undefined) return [refusal(path, 'absent without failureDomain', outerFailureDomain)];
  return validateNone(outerFailureDomain, new Set(failureDomain), path);
}

function validateDetect({ detect, podAutonomy }: PolicyInput, index: number): readonly string[] {
  return [
    ...validateDuration(detect?.evictAfter, ['policies', index, 'detect', 'evictAfter']),
    ...validateDuration(podAutonomy?.evictAfter, ['policies', index, 'podAutonomy', 'evictAfter']),
  ];
}

/** A taint that follows from the health of the node would hold what follows from it. */
function validateVetoes({ vetoes }: PolicyInput, index: number): readonly string[] {
  if (vetoes === undefined) return [];
  const path = ['policies', index, 'vetoes'];
  const { of, labels = [], taints = [], maxDuration } = vetoes;
  const isEmpty = of?.length === 0 && labels.length === 0 && taints.length === 0;
  return [
    ...(isEmpty ? [refusal(path, 'set with at least one tool, label or taint', vetoes)] : []),
    ...validateNone(taints, silenceTaints, [...path, 'taints']),
    ...validateDuration(maxDuration, [...path, 'maxDuration']),
  ];
}

/** A warning after the node is Unknown would warn of nothing. */
function validateEarlyWarning(policy: PolicyInput, index: number): readonly string[] {
  const { earlyWarning, nodeMonitorGracePeriod: grace } = policy;
  if (earlyWarning === undefined) return [];
  const path = ['policies', index, 'earlyWarning', 'after'];
  const isLate = grace !== undefined && msOf(earlyWarning.after) >= msOf(grace);
  return [
    ...validateDuration(earlyWarning.after, path),
    ...(isLate ? [refusal(path, `less than nodeMonitorGracePeriod (${grace})`, earlyWarning.after)] : []),
  ];
}

/** Kubelets renew every 10 s: before that a node without a heartbeat is like all others. */
const earliestMin = '10s';

/** Without a limit the loss of a network would be taken for that of its nodes. */
function validateDetection(policy: PolicyInput, index: number): readonly string[] {
  const { detection, nodeMonitorGracePeriod: grace, limits } = policy;
  if (detection === undefined) return [];
  const path = ['policies', index, 'detection'];
  const { earliest, probes } = detection;
  const isLate = grace !== undefined && msOf(earliest) >= msOf(grace);
  return [
    ...validateDuration(earliest, [...path, 'earliest']),
    ...(msOf(earliest) > 0 && msOf(earliest) < msOf(earliestMin)
      ? [refusal([...path, 'earliest'], `at least ${earliestMin}`, earliest)]
      : []),
    ...(isLate ? [refusal([...path, 'earliest'], `less than nodeMonitorGracePeriod (${grace})`, earliest)] : []),
    ...(probes === undefined || probes.includes('kubelet')
      ? []
      : [refusal([...path, 'probes'], 'a list with kubelet', probes)]),
    ...(limits?.maxUnhealthy === undefined ? [refusal(path, 'absent without limits.maxUnhealthy', detection)] : []),
  ];
}

const scheduleDurationMax = '168h';

function validateSchedules(policy: PolicyInput, index: number): readonly string[] {
  return (policy.schedules ?? []).flatMap((schedule, place) => {
    return validateSchedule(schedule, policy, ['policies', index, 'schedules', place]);
  });
}

type ScheduleInput = NonNullable<PolicyInput['schedules']>[number];

function validateSchedule(
  { duration, set }: ScheduleInput,
  policy: PolicyInput,
  path: readonly PropertyKey[],
): readonly string[] {
  const isTooLong = msOf(duration) > msOf(scheduleDurationMax);
  return [
    ...validateDuration(duration, [...path, 'duration']),
    ...(isTooLong ? [refusal([...path, 'duration'], `at most ${scheduleDurationMax}`, duration)] : []),
    ...validateSet(set, policy, [...path, 'set']),
  ];
}

function validateSet(set: ScheduleInput['set'], policy: PolicyInput, path: readonly PropertyKey[]): readonly string[] {
  const { mode, limits, rates = {} } = set;
  const hasZones = decodeZones(policy) !== undefined;
  const isEmpty = mode === undefined && limits === undefined && Object.keys(rates).length === 0;
  return [
    ...(isEmpty ? [refusal(path, 'set with a mode, limits or rates', set)] : []),
    ...(limits === undefined ? [] : validateSetLimits(limits, policy.limits, [...path, 'limits'])),
    ...(Object.keys(rates).length === 0 || hasZones
      ? []
      : [refusal([...path, 'rates'], 'absent unless the policy sets failureDomain or one of these rates', rates)]),
  ];
}

/** The breaker may be that of the policy. */
function validateSetLimits(
  limits: NonNullable<ScheduleInput['set']['limits']>,
  ofPolicy: PolicyInput['limits'],
  path: readonly PropertyKey[],
): readonly string[] {
  const { maxUnhealthy = ofPolicy?.maxUnhealthy } = limits;
  return [
    ...validateMaxUnhealthy(limits, path),
    ...(maxUnhealthy === undefined || Object.keys(limits).length === 0 ? validateNoBreaker(limits, path) : []),
    ...validateDuration(limits.cooldown, [...path, 'cooldown']),
  ];
}

function validateNone(
  values: readonly string[] | undefined,
  refused: ReadonlySet<string>,
  path: readonly PropertyKey[],
): readonly string[] {
  return (values ?? []).flatMap((value, place) => {
    return refused.has(value) ? [refusal([...path, place], `none of ${[...refused].join(', ')}`, value)] : [];
  });
}

function validateLimits({ limits }: PolicyInput, index: number): readonly string[] {
  if (limits === undefined) return [];
  const path = ['policies', index, 'limits'];
  const { maxUnhealthy, cooldown, resetAt } = limits;
  const isTime = resetAt === undefined || parseTimestamp(resetAt) !== undefined;
  return [
    ...validateMaxUnhealthy(limits, path),
    ...(maxUnhealthy === undefined ? validateNoBreaker(limits, path) : []),
    ...validateDuration(cooldown, [...path, 'cooldown']),
    ...(isTime ? [] : [refusal([...path, 'resetAt'], 'an RFC 3339 time, such as 2026-11-23T18:00:00Z', resetAt)]),
  ];
}

type LimitsInput = NonNullable<PolicyInput['limits']>;

function validateMaxUnhealthy({ maxUnhealthy }: LimitsInput, path: readonly PropertyKey[]): readonly string[] {
  const isEmpty = maxUnhealthy !== undefined && maxUnhealthy.percent === undefined && maxUnhealthy.count === undefined;
  return isEmpty ? [refusal([...path, 'maxUnhealthy'], 'percent, count or both', maxUnhealthy)] : [];
}

/** Without `maxUnhealthy` there is no breaker to close, and one of the other limits must be set. */
function validateNoBreaker(limits: LimitsInput, path: readonly PropertyKey[]): readonly string[] {
  const isEmpty = evictionLimits.every((limit) => limits[limit] === undefined);
  const ofBreaker = (['cooldown', 'resetAt', 'overflow'] as const).filter((field) => limits[field] !== undefined);
  const others = ofBreaker.map((field) => refusal([...path, field], 'absent without maxUnhealthy', limits[field]));
  return isEmpty ? [refusal(path, 'set with at least one limit', limits), ...others] : others;
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

const durations = ['within', 'initial', 'max'] as const;

/** What the schema of the field cannot say. */
function validateFlapping({ flapping }: PolicyInput, index: number): readonly string[] {
  if (flapping === undefined) return [];
  const path = ['policies', index, 'flapping'];
  const malformed = durations.filter((field) => flapping[field] !== undefined && msOf(flapping[field]) === 0);
  const { budget } = flapping;
  const isEmpty = budget !== undefined && budget.percent === undefined && budget.count === undefined;
  return [
    ...malformed.map((field) => refusal([...path, field], 'a duration > 0 and below 292 years', flapping[field])),
    ...(isEmpty ? [refusal([...path, 'budget'], 'percent, count or both', budget)] : []),
    ...(malformed.length === 0 ? validateMax(flapping, path) : []),
  ];
}

function validateMax(
  { initial, max }: NonNullable<PolicyInput['flapping']>,
  path: readonly PropertyKey[],
): readonly string[] {
  if (initial === undefined || msOf(initial) <= msOf(max ?? flappingMaxDefault)) return [];
  return [refusal([...path, 'initial'], `at most max, which is ${max ?? `${flappingMaxDefault} if not set`}`, initial)];
}

/** 0: not a duration > 0. */
function msOf(duration: string | undefined): number {
  return duration === undefined ? 0 : Math.max(0, parseGoDuration(duration) ?? 0);
}
