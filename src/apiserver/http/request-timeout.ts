/** The option `timeout` of a request (upstream `filters.WithRequestDeadline`), in the notation of Go's durations. */
import { badRequest } from '../api-errors/api-errors.ts';

const nanosByUnit: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3],
  ['μs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3_600e9],
]);
/** Maximum of a signed number of 64 bits. */
const nanosMax = 2 ** 63;
/** A number and its unit. */
const partPattern = /(\d*(?:\.\d*)?)([^.\d]*)/g;

/** Throws a 400 ApiError for a text that is neither empty nor a duration, as `30s` is one. */
export function assertTimeout(text: string): void {
  if (text === '') return;
  const problem = findDurationProblem(text);
  if (problem !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${problem}`);
}

function findDurationProblem(text: string): string | undefined {
  const unsigned = text.replace(/^[-+]/, '');
  if (unsigned === '0') return undefined;
  // The pattern also matches the end of the text.
  const parts = [...unsigned.matchAll(partPattern)].slice(0, unsigned === '' ? 1 : -1);
  const problem = parts
    .map(([, number = '', unit = '']) => problemOfPart(number, unit, text))
    .find((found) => found !== '');
  return problem ?? (nanosOf(parts) < nanosMax ? undefined : `invalid duration "${text}"`);
}

function problemOfPart(number: string, unit: string, text: string): string {
  if (!/\d/.test(number)) return `invalid duration "${text}"`;
  if (unit === '') return `missing unit in duration "${text}"`;
  return nanosByUnit.has(unit) ? '' : `unknown unit "${unit}" in duration "${text}"`;
}

function nanosOf(parts: readonly RegExpExecArray[]): number {
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(`0${number}`) * (nanosByUnit.get(unit) ?? 0), 0);
}
