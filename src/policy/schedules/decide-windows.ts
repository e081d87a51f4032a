// Which windows of a policy have begun, and its settings in them. A window lasts as long as its duration says, so one over a change
// to or from summer time ends an hour later or earlier by the clocks there.
import {
  cooldownDefaultMs,
  type NodePolicy,
  type PolicyLimits,
  type PolicySchedule,
  type ScheduledSettings,
  type ScheduleWindow,
} from '../../controller/model/policy.ts';
import type { ScheduleTimes } from '../schema/schedule-times.ts';

/** A policy with the settings of the windows that have begun. */
interface PolicyNow {
  readonly policy: NodePolicy;
  /** Wall time at which the next window begins or ends; Infinity: never. */
  readonly changesAtMs: number;
}

/** `timesOf`: the starts of windows before and after `wallMs`. */
export function decideWindows(
  policy: NodePolicy,
  timesOf: (schedule: PolicySchedule) => ScheduleTimes,
  wallMs: number,
): PolicyNow {
  const { schedules = [] } = policy;
  const all = schedules.map((schedule) => {
    const { startedAtMs, nextAtMs } = timesOf(schedule);
    return { schedule, untilMs: startedAtMs + schedule.durationMs, nextAtMs };
  });
  const open = all.filter(({ untilMs }) => untilMs > wallMs);
  const changesAtMs = Math.min(...all.map(({ nextAtMs }) => nextAtMs), ...open.map(({ untilMs }) => untilMs));
  if (open.length === 0) return { policy, changesAtMs };
  // From the last to the first one, which replaces what the others set.
  const merged = open.toReversed().reduce((result, { schedule }) => withSettings(result, schedule.set), policy);
  return { policy: { ...merged, windows: open.map(toWindow) }, changesAtMs };
}

function toWindow({ schedule, untilMs }: { schedule: PolicySchedule; untilMs: number }): ScheduleWindow {
  const { cron, timeZone, set } = schedule;
  return { cron, timeZone, untilMs, setsMode: set.mode !== undefined };
}

function withSettings(policy: NodePolicy, { mode, limits, rates, ...evictionLimits }: ScheduledSettings): NodePolicy {
  return {
    ...policy,
    ...evictionLimits,
    mode: mode ?? policy.mode,
    limits: mergeLimits(policy.limits, limits),
    zones: rates === undefined ? policy.zones : mergeRates(policy.zones, rates),
  };
}

function mergeLimits(limits: NodePolicy['limits'], set: ScheduledSettings['limits']): PolicyLimits | undefined {
  const maxUnhealthy = set?.maxUnhealthy ?? limits?.maxUnhealthy;
  if (maxUnhealthy === undefined) return limits;
  return { cooldownMs: cooldownDefaultMs, resetAtMs: undefined, ...limits, ...set, maxUnhealthy };
}

function mergeRates(
  zones: NodePolicy['zones'],
  rates: NonNullable<ScheduledSettings['rates']>,
): NonNullable<NodePolicy['zones']> {
  return { failureDomain: undefined, ...zones, settings: { ...zones?.settings, ...rates } };
}
