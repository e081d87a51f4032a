// When the windows of a schedule begin. Days and hours are those of the time zone: a start in the hour that a change to summer time
// skips is an hour later, and one in the hour that comes twice is the first of both.
import { Cron } from 'croner';
import { formatTime } from '../../machinery/api/timestamps.ts';
import type { PolicySchedule } from '../../controller/model/policy.ts';

type ScheduleText = Pick<PolicySchedule, 'cron' | 'timeZone'>;

/** Starts of windows, by wall time. */
export interface ScheduleTimes {
  /** The last one until now; -Infinity: none. */
  readonly startedAtMs: number;
  /** The next one; Infinity: none. */
  readonly nextAtMs: number;
}

/** Throws for what is not {@link isCron} or not {@link isTimeZone}. */
export function readScheduleTimes(schedule: ScheduleText, wallMs: number): ScheduleTimes {
  const cron = parse(schedule);
  // Windows begin at whole seconds.
  const [started] = cron.previousRuns(1, formatTime(wallMs + 1_000));
  const next = cron.nextRun(formatTime(wallMs));
  return { startedAtMs: started?.getTime() ?? -Infinity, nextAtMs: next?.getTime() ?? Infinity };
}

function parse({ cron, timeZone }: ScheduleText): Cron {
  return new Cron(cron, { timezone: timeZone, mode: '5-part' });
}

/** Five fields of cron, at times that come: not on the 30th of February. */
export function isCron(cron: string): boolean {
  try {
    return parse({ cron, timeZone: 'UTC' }).nextRun(formatTime(0)) !== null;
  } catch {
    return false;
  }
}

/** A name of the IANA database that this runtime knows. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
