// Times and durations as text. Times of day are those of the viewer's zone, unless another one is named.

/** The largest two units: `42s`, `3m 05s`, `1h 12m`, `2d 3h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return pair(Math.floor(whole / 60), 'm', whole % 60, 's');
  if (whole < 86_400) return pair(Math.floor(whole / 3_600), 'h', Math.floor((whole % 3_600) / 60), 'm');
  return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3_600)}h`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large}${largeUnit} ${String(small).padStart(2, '0')}${smallUnit}`;
}

/** Time left as on a clock, `0:42` or `1:02:03`; `now` when none is left. */
export function formatCountdown(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole <= 0) return 'now';
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Virtual time, which reports of simulations have, counts from the epoch: it is shown as time since the start. */
const virtualMsMax = Date.UTC(1980, 0, 1);

/** `12:00:01`, with the date if it is not the day of `nowMs`. An unreadable time stays as it is. */
export function formatClock(at: string, nowMs: number, timeZone?: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  if (date.getTime() < virtualMsMax) return formatDuration(date.getTime() / 1_000);
  const zone = timeZone === undefined ? {} : { timeZone };
  const time = new Intl.DateTimeFormat('en-GB', { ...zone, timeStyle: 'medium' }).format(date);
  const day = new Intl.DateTimeFormat('en-GB', { ...zone, day: 'numeric', month: 'short' });
  return day.format(date) === day.format(new Date(nowMs)) ? time : `${day.format(date)} ${time}`;
}

/** `2026-11-24 12:00:01 UTC`. */
export function formatUtc(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  if (date.getTime() < virtualMsMax) return `${formatDuration(date.getTime() / 1_000)} since the start`;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The viewer's offset from UTC at a time: `UTC`, `UTC+2`, `UTC-3:30`. `minutes`: as `Date.getTimezoneOffset` returns it. */
export function formatOffset(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '+' : '-'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}
