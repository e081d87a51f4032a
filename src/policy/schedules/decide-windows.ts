// Which windows of a policy have begun, and its settings in them. A window lasts as long as its duration says, so one over a change
// to or from summer time ends an hour later or earlier by the clocks there.
import {
  cooldownDefaultMs,
  type ModeWindow,
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
  const windows = { windows: open.map(toWindow), modeWindow: decideModeWindow(policy, open) };
  return { policy: { ...merged, ...windows }, changesAtMs };
}

interface OpenWindow {
  readonly schedule: PolicySchedule;
  readonly untilMs: number;
}

function toWindow({ schedule: { cron, timeZone }, untilMs }: OpenWindow): ScheduleWindow {
  return { cron, timeZone, untilMs };
}

/**
 * The first window that sets a mode does, then the next one that lasts longer, at last the policy itself: until when the mode is the one of
 * now, as far as windows that have begun decide. Infinity: without an end.
 */
function decideModeWindow(
  { mode: base, schedules = [] }: NodePolicy,
  open: readonly OpenWindow[],
): ModeWindow | undefined {
  const [first, ...others] = open.filter(({ schedule }) => schedule.set.mode !== undefined);
  if (first === undefined) return undefined;
  const { mode } = first.schedule.set;
  let { untilMs } = first;
  for (const other of others.filter((each) => each.untilMs > first.untilMs)) {
    if (other.untilMs <= untilMs) continue;
    if (other.schedule.set.mode !== mode) return { schedule: schedules.indexOf(first.schedule), untilMs };
    ({ untilMs } = other);
  }
  return { schedule: schedules.indexOf(first.schedule), untilMs: mode === base ? Infinity : untilMs };
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
