import { formatGoDuration } from '../../machinery/api/go-duration.ts';
import type { LabelRequirement } from '../../machinery/api/label-selector.ts';
import { fencedAnnotation } from '../../machinery/api/node.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { sameJson } from '../../machinery/api/json-values.ts';
import type { SettingChange } from '../../controller/model/decisions.ts';
import {
  describeMaxUnhealthy,
  describeWindow,
  evictionLimits,
  type MaintenanceRule,
  type NodePolicy,
} from '../../controller/model/policy.ts';

/** Each changed policy, by what names it. */
export function diffPolicies(
  before: readonly NodePolicy[],
  after: readonly NodePolicy[],
  settingOf: (name: string) => string,
): readonly SettingChange[] {
  const names = new Set([...before, ...after].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [from, to] = [before, after].map((policies) => policies.find((policy) => policy.name === name));
    if (sameJson(from, to)) return [];
    return [{ setting: settingOf(name), from: describePolicy(from), to: describePolicy(to) }];
  });
}

/** A policy in one line, for a list of changed settings; `not set` without one. */
export function describePolicy(policy: NodePolicy | undefined): string {
  if (policy === undefined) return 'not set';
  const { priority, mode, selector, nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs } = policy;
  const { maintenance, limits, outOfService, zones, flapping } = policy;
  return [
    `priority ${priority}`,
    mode,
    ...describeDetect(policy),
    selector.map(describeRequirement).join(' and '),
    ...describeGrace('nodeMonitorGracePeriod', nodeMonitorGracePeriodMs),
    ...describeGrace('nodeStartupGracePeriod', nodeStartupGracePeriodMs),
    ...describeGrace('terminatingTimeout', policy.terminatingTimeoutMs),
    ...describeGrace('markPodsOfNotReadyAfter', policy.markPodsOfNotReadyAfterMs),
    ...describeMaintenance(maintenance),
    ...describeVetoes(policy.vetoes),
    ...describeEarlyWarning(policy.earlyWarning),
    ...describeDetection(policy.detection),
    ...describeLimits(limits),
    ...describeOutOfService(outOfService),
    ...describeZones(zones),
    ...describeFlapping(flapping),
    ...describeEvictionLimits(policy),
    ...describeSchedules(policy),
  ].join(', ');
}

function describeSchedules({ schedules = [], windows = [] }: NodePolicy): readonly string[] {
  return [
    ...schedules.map(
      ({ cron, timeZone, durationMs }) => `schedule ${cron} ${timeZone} for ${formatGoDuration(durationMs)}`,
    ),
    ...windows.map((window) => `in a window ${describeWindow(window)}`),
  ];
}

function describeRequirement({ key, operator, values }: LabelRequirement): string {
  return [key, operator, ...(values ? [`[${values.join(' ')}]`] : [])].join(' ');
}

function describeGrace(field: string, ms: number | undefined): readonly string[] {
  return ms === undefined ? [] : [`${field} ${formatGoDuration(ms)}`];
}

function describeDetect({ detect, podAutonomy }: NodePolicy): readonly string[] {
  const afterMs = detect?.evictAfterMs;
  return [
    ...(detect === undefined ? [] : [detect.markPods ? 'marks pods' : 'keeps pods Ready']),
    ...(afterMs === undefined ? [] : [`evicts after ${formatGoDuration(afterMs)}`]),
    ...(podAutonomy === undefined ? [] : [`podAutonomy for ${formatGoDuration(podAutonomy.evictAfterMs)}`]),
  ];
}

function describeMaintenance(rule: MaintenanceRule | undefined): readonly string[] {
  if (rule === undefined) return [];
  const { conditions, taints, holdsWhileSilent = [], maxDurationMs, maxTotalMs = Infinity } = rule;
  const silent = holdsWhileSilent.length === 0 ? '' : ` (${holdsWhileSilent.join(' ')} while silent too)`;
  const together = Number.isFinite(maxTotalMs) ? `, ${formatGoDuration(maxTotalMs)} together` : '';
  const most = `${formatGoDuration(maxDurationMs)} at most${together}`;
  return [`maintenance [${[...conditions, ...taints].join(' ')}]${silent} for ${most}`];
}

function describeVetoes(rule: NodePolicy['vetoes']): readonly string[] {
  if (rule === undefined) return [];
  const { of, labels, taints, maxDurationMs } = rule;
  return [`vetoes [${[...of, ...labels, ...taints].join(' ')}] for ${formatGoDuration(maxDurationMs)} at most`];
}

function describeEarlyWarning(rule: NodePolicy['earlyWarning']): readonly string[] {
  if (rule === undefined) return [];
  return [`earlyWarning after ${formatGoDuration(rule.afterMs)}${rule.annotate ? ' by annotation' : ''}`];
}

function describeDetection(rule: NodePolicy['detection']): readonly string[] {
  if (rule === undefined) return [];
  return [`detection from ${formatGoDuration(rule.earliestMs)} on by probes [${rule.probes.join(' ')}]`];
}

function describeZones(zones: NodePolicy['zones']): readonly string[] {
  if (zones === undefined) return [];
  const { failureDomain, outerFailureDomain, settings } = zones;
  const domain = failureDomain === undefined ? [] : [`failureDomain [${failureDomain.join(' ')}]`];
  const outer = outerFailureDomain === undefined ? [] : [`outerFailureDomain [${outerFailureDomain.join(' ')}]`];
  return [...domain, ...outer, ...Object.entries(settings).map(([field, value]) => `${field} ${value}`)];
}

function describeFlapping(rule: NodePolicy['flapping']): readonly string[] {
  if (rule === undefined) return [];
  const { recoveries, withinMs, initialMs, maxMs, budget } = rule;
  const kept = `${formatGoDuration(initialMs)} to ${formatGoDuration(maxMs)}`;
  const when = `${recoveries} recoveries within ${formatGoDuration(withinMs)}`;
  return [`flapping at ${when}: kept for ${kept}, budget ${describeMaxUnhealthy(budget)}`];
}

function describeEvictionLimits(policy: NodePolicy): readonly string[] {
  const { evictReachable } = policy;
  const timeoutMs = evictReachable?.timeoutMs;
  const timeout = timeoutMs === undefined ? '' : ` for ${formatGoDuration(timeoutMs)} at most`;
  return [
    ...(evictReachable === undefined ? [] : [`evictReachable${timeout}`]),
    ...(policy.keepCompletedPods ? ['keepCompletedPods'] : []),
    ...evictionLimits.flatMap((limit) => (policy[limit] === undefined ? [] : [`${limit} ${policy[limit]}`])),
  ];
}

function describeOutOfService(rule: NodePolicy['outOfService']): readonly string[] {
  if (rule === undefined) return [];
  return [`outOfService if fenced by [${[...rule.conditions, ...rule.taints, fencedAnnotation].join(' ')}]`];
}

function describeLimits(limits: NodePolicy['limits']): readonly string[] {
  if (limits === undefined) return [];
  const { maxUnhealthy, cooldownMs, resetAtMs, overflow } = limits;
  const beyond =
    overflow === undefined ? [] : [`overflow ${overflow.ratePerHour} an hour by ${overflow.order ?? 'severity'}`];
  const reset = resetAtMs === undefined ? [] : [`resetAt ${formatTime(resetAtMs)}`];
  return [
    `maxUnhealthy ${describeMaxUnhealthy(maxUnhealthy)}`,
    `cooldown ${formatGoDuration(cooldownMs)}`,
    ...reset,
    ...beyond,
  ];
}
