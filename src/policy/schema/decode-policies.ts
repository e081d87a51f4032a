import { maintenanceConditions } from '../../machinery/api/conditions.ts';
import { parseGoDuration } from '../../machinery/api/go-duration.ts';
import { listRequirements } from '../../machinery/api/label-selector.ts';
import { fencingTaints } from '../../machinery/api/taints.ts';
import { vetoOwners } from '../../machinery/api/vetoes.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import {
  cooldownDefaultMs,
  type DetectionRule,
  type DetectRule,
  type EarlyWarningRule,
  type EvictionLimits,
  evictionLimits,
  type FlappingRule,
  type MaintenanceRule,
  type NodePolicy,
  type OutOfServiceRule,
  type PolicyLimits,
  type PolicySchedule,
  type PolicyZones,
  type VetoRule,
  type ZoneSettings,
} from '../../controller/model/policy.ts';
import type { PolicyInput } from './policy-schema.ts';

/** Times the maximum of one signal: a maintenance that goes on by another signal is held as long again. */
const maxTotalDefault = 2;

const flappingInitialDefault = '5m';
export const flappingMaxDefault = '1h';
const flappingBudgetDefault = { percent: 10, count: 1 } as const;

/** Valid policies of a file as the controller uses them. */
export function decodePolicies(policies: readonly PolicyInput[]): readonly NodePolicy[] {
  return policies.map((policy) => ({
    name: policy.name,
    priority: policy.priority ?? 0,
    selector: listRequirements(policy.nodeSelector),
    mode: policy.mode ?? 'Enforce',
    detect: policy.detect && decodeDetect(policy.detect),
    podAutonomy: policy.podAutonomy && { evictAfterMs: toMs(policy.podAutonomy.evictAfter) },
    nodeMonitorGracePeriodMs: parseDuration(policy.nodeMonitorGracePeriod),
    nodeStartupGracePeriodMs: parseDuration(policy.nodeStartupGracePeriod),
    terminatingTimeoutMs: parseDuration(policy.terminatingTimeout),
    markPodsOfNotReadyAfterMs: parseDuration(policy.markPodsOfNotReadyAfter),
    vetoes: policy.vetoes && decodeVetoes(policy.vetoes),
    earlyWarning: decodeEarlyWarning(policy.earlyWarning),
    detection: decodeDetection(policy.detection),
    maintenance: decodeMaintenance(policy.maintenance),
    limits: decodeLimits(policy.limits),
    outOfService: policy.outOfService && decodeOutOfService(policy.outOfService),
    zones: decodeZones(policy),
    flapping: policy.flapping && decodeFlapping(policy.flapping),
    evictReachable: policy.evictReachable && { timeoutMs: parseDuration(policy.evictReachable.timeout) },
    ...decodeEvictionLimits(policy.limits),
    keepCompletedPods: policy.keepCompletedPods ?? false,
    schedules: decodeSchedules(policy.schedules),
  }));
}

function decodeSchedules(schedules: PolicyInput['schedules']): NodePolicy['schedules'] {
  return schedules?.map(decodeSchedule);
}

type ScheduleInput = NonNullable<PolicyInput['schedules']>[number];

function decodeSchedule({ cron, timeZone = 'UTC', duration, set }: ScheduleInput): PolicySchedule {
  const { mode, limits = {}, rates } = set;
  const { maxUnhealthy, cooldown, overflow } = limits;
  return {
    cron,
    timeZone,
    durationMs: toMs(duration),
    set: {
      mode,
      limits: {
        ...(maxUnhealthy && { maxUnhealthy: decodeMaxUnhealthy(maxUnhealthy) }),
        ...(cooldown !== undefined && { cooldownMs: toMs(cooldown) }),
        ...(overflow && { overflow }),
      },
      ...Object.fromEntries(
        evictionLimits.flatMap((limit) => (limits[limit] === undefined ? [] : [[limit, limits[limit]]])),
      ),
      rates: rates && selectRates(rates),
    },
  };
}

function decodeMaxUnhealthy({
  percent,
  count,
}: NonNullable<NonNullable<PolicyInput['limits']>['maxUnhealthy']>): PolicyLimits['maxUnhealthy'] {
  return { percent, count };
}

function decodeDetect({ markPods = true, evictAfter }: NonNullable<PolicyInput['detect']>): DetectRule {
  return { markPods, evictAfterMs: parseDuration(evictAfter) };
}

function decodeEarlyWarning(rule: PolicyInput['earlyWarning']): EarlyWarningRule | undefined {
  return rule && { afterMs: toMs(rule.after), annotate: rule.annotate ?? false };
}

function decodeDetection(rule: PolicyInput['detection']): DetectionRule | undefined {
  return rule && { earliestMs: toMs(rule.earliest), probes: [...new Set(rule.probes ?? ['kubelet' as const])] };
}

function decodeVetoes(rule: NonNullable<PolicyInput['vetoes']>): VetoRule {
  const { of = vetoOwners, labels = [], taints = [], maxDuration } = rule;
  return { of, labels, taints, maxDurationMs: toMs(maxDuration) };
}

function decodeMaintenance(maintenance: PolicyInput['maintenance']): MaintenanceRule | undefined {
  if (maintenance === undefined) return undefined;
  const { conditions = maintenanceConditions, taints = [], holdsWhileSilent = [], maxDuration, maxTotal } = maintenance;
  // Validated before: a duration of 0 holds nothing.
  const maxDurationMs = parseGoDuration(maxDuration) ?? 0;
  const maxTotalMs = parseDuration(maxTotal) ?? maxTotalDefault * maxDurationMs;
  return { conditions, taints, holdsWhileSilent, maxDurationMs, maxTotalMs };
}

/** What the breaker of the policy needs. */
function decodeLimits({
  maxUnhealthy,
  cooldown,
  resetAt,
  overflow,
}: PolicyInput['limits'] = {}): PolicyLimits | undefined {
  return (
    maxUnhealthy && {
      maxUnhealthy: decodeMaxUnhealthy(maxUnhealthy),
      cooldownMs: parseDuration(cooldown) ?? cooldownDefaultMs,
      resetAtMs: parseTimestamp(resetAt),
      ...(overflow && { overflow }),
    }
  );
}

function decodeEvictionLimits(limits: PolicyInput['limits'] = {}): EvictionLimits {
  return Object.fromEntries(evictionLimits.map((limit) => [limit, limits[limit]]));
}

const zoneFields = [
  'nodeEvictionRate',
  'secondaryNodeEvictionRate',
  'fullDisruptionEvictionRate',
  'largeClusterSizeThreshold',
  'unhealthyZoneThreshold',
  'podMarkingRate',
] as const satisfies readonly (keyof ZoneSettings)[];

/** Undefined: no field is set that is about zones. */
export function decodeZones(policy: PolicyInput): PolicyZones | undefined {
  const settings = selectRates(policy);
  const { failureDomain, outerFailureDomain } = policy;
  if (failureDomain === undefined && Object.keys(settings).length === 0) return undefined;
  const outer = outerFailureDomain === undefined ? {} : { outerFailureDomain };
  return { failureDomain, ...outer, settings };
}

function selectRates(given: NonNullable<ScheduleInput['set']['rates']>): Partial<ZoneSettings> {
  return Object.fromEntries(zoneFields.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])));
}

function decodeOutOfService(rule: NonNullable<PolicyInput['outOfService']>): OutOfServiceRule {
  return { conditions: rule.conditions ?? [], taints: rule.taints ?? fencingTaints };
}

function parseDuration(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseGoDuration(text);
}

/** A valid rule for flapping nodes as the controller uses it. */
function decodeFlapping(flapping: NonNullable<PolicyInput['flapping']>): FlappingRule {
  const {
    recoveries,
    within,
    initial = flappingInitialDefault,
    max = flappingMaxDefault,
    budget = flappingBudgetDefault,
  } = flapping;
  return {
    recoveries,
    withinMs: toMs(within),
    initialMs: toMs(initial),
    maxMs: toMs(max),
    budget: { percent: budget.percent, count: budget.count },
  };
}

/** Milliseconds of a duration that is valid; 0, which keeps no node, is not. */
function toMs(duration: string): number {
  return parseGoDuration(duration) ?? 0;
}
