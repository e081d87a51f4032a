/** The option `timeout` of a request (upstream `filters.WithRequestDeadline`), in the notation of Go's durations. */
import { parseGoDuration } from '../../../machinery/api/go-duration.ts';
import { badRequest } from '../api-errors/api-errors.ts';

/** A number and its unit. */
const partPattern = /(\d*(?:\.\d*)?)([^.\d]*)/g;

/** Upstream `--request-timeout`: the timeout of a request that states none, a larger one, or none above zero. */
const timeoutMsMax = 60_000;

/** Milliseconds. Throws a 400 ApiError for a text that is neither empty nor a duration, as `30s` is one. */
export function timeoutMsOf(text: string): number {
  if (text === '') return timeoutMsMax;
  const problem = findDurationProblem(text);
  if (problem !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${problem}`);
  const givenMs = parseGoDuration(text) ?? 0;
  return givenMs > 0 && givenMs < timeoutMsMax ? givenMs : timeoutMsMax;
}

function findDurationProblem(text: string): string | undefined {
  const unsigned = text.replace(/^[-+]/, '');
  if (unsigned === '0') return undefined;
  // The pattern also matches the end of the text.
  const parts = [...unsigned.matchAll(partPattern)].slice(0, unsigned === '' ? 1 : -1);
  const problem = parts
    .map(([, number = '', unit = '']) => problemOfPart(number, unit, text))
    .find((found) => found !== '');
  return problem ?? (parseGoDuration(text) === undefined ? `invalid duration "${text}"` : undefined);
}

function problemOfPart(number: string, unit: string, text: string): string {
  if (!/\d/.test(number)) return `invalid duration "${text}"`;
  if (unit === '') return `missing unit in duration "${text}"`;
  return parseGoDuration(`1${unit}`) === undefined ? `unknown unit "${unit}" in duration "${text}"` : '';
}
