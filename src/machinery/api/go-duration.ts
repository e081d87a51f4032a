// Durations in Go's format (`time.ParseDuration`, `time.Duration.String`), as Kubernetes flags use. The internal unit is
// the millisecond; Go counts whole nanoseconds, so smaller fractions are truncated as in Go.
import { withoutTrailing } from './without-trailing.ts';

const nanosecondsIn: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n], // U+00B5, the micro sign
  ['μs', 1_000n], // U+03BC, the Greek letter
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

/** Go stores a duration as a signed 64-bit number of nanoseconds. */
const nanosecondsMax = 2n ** 63n - 1n;
/** Further fractional digits cannot change a nanosecond. */
const fractionDigitsMax = 18;

const units = [...nanosecondsIn.keys()].join('|');
/** Text that Go accepts as a duration, except for a bare 0. Each text matches in one way only, so that matching is linear. */
export const goDurationText = new RegExp(`^[+-]?(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:${units}))+$`);
const oneTerm = new RegExp(`(\\d*)(?:\\.(\\d*))?(${units})`, 'g');

/**
 * Milliseconds, or undefined for input that Go rejects: a number without a unit (except a bare 0), an unknown unit,
 * spaces, more than about 292 years.
 */
export function parseGoDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!goDurationText.test(text)) return undefined;
  let nanoseconds = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(oneTerm)) {
    nanoseconds += termNanoseconds(whole, fraction, nanosecondsIn.get(unit) ?? 0n);
  }
  if (nanoseconds > nanosecondsMax) return undefined;
  // Whole and fractional milliseconds are converted separately, so that whole milliseconds stay exact at any size.
  const ms = Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6;
  return text.startsWith('-') ? -ms : ms;
}

function termNanoseconds(whole: string, fraction: string, unit: bigint): bigint {
  const digits = fraction.slice(0, fractionDigitsMax);
  // Floating point, as in Go, so that 0.333…h is exactly twenty minutes in both.
  const part = BigInt(Math.trunc(Number(digits) * (Number(unit) / 10 ** digits.length)));
  return BigInt(whole) * unit + part;
}

/** Go's format: `1m0s`, `1h2m3.5s`, `500ms`, `0s`. Rounded to whole nanoseconds. */
export function formatGoDuration(ms: number): string {
  const signed = BigInt(Math.trunc(ms)) * 1_000_000n + BigInt(Math.round((ms % 1) * 1e6));
  const nanoseconds = signed < 0n ? -signed : signed;
  const sign = signed < 0n ? '-' : '';
  if (nanoseconds === 0n) return '0s';
  return sign + (nanoseconds < 1_000_000_000n ? belowOneSecond(nanoseconds) : fromOneSecond(nanoseconds));
}

function belowOneSecond(nanoseconds: bigint): string {
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}µs`;
  return `${decimal(nanoseconds, 6)}ms`;
}

function fromOneSecond(nanoseconds: bigint): string {
  const minutes = nanoseconds / 60_000_000_000n;
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `count` of units of 10^-places, without trailing zeros. */
function decimal(count: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = withoutTrailing((count % scale).toString().padStart(places, '0'), '0');
  return fraction === '' ? `${count / scale}` : `${count / scale}.${fraction}`;
}
