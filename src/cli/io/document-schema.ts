// Parts of the schemas of documents that users write. Each problem names the field, the accepted values and the given one.
import * as z from 'zod';
import { ownValue } from '../../machinery/api/json-map.ts';
import { formatGoDuration, parseGoDuration } from '../../machinery/api/go-duration.ts';

export const durationAccepted = 'with a unit, such as 1m30s or 500ms';

// Every message here completes "must be …".
export function duration(range: { readonly min?: number } = {}): z.ZodType<number> {
  const { min = Number.NEGATIVE_INFINITY } = range;
  const accepted = `a duration ${Number.isFinite(min) ? `>= ${min === 0 ? '0' : formatGoDuration(min)} ` : ''}${durationAccepted}`;
  return z.unknown().transform((given, context) => {
    const ms = typeof given === 'string' ? parseGoDuration(given) : undefined;
    if (ms !== undefined && ms >= min) return ms;
    context.addIssue({ code: 'custom', message: accepted });
    return z.NEVER;
  });
}

export function word<const T extends readonly [string, ...string[]]>(...words: T): z.ZodType<T[number]> {
  return z.enum(words, { error: `one of ${words.join(', ')}` });
}

export function wholeNumber(min: number, max: number): z.ZodType<number> {
  const error = `an integer >= ${min} and <= ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function numberFrom(min: number, max: number): z.ZodType<number> {
  const error = `a number >= ${min} and <= ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
}

export function text(accepted = 'a non-empty string'): z.ZodString {
  return z.string({ error: accepted }).min(1, { error: accepted });
}

export function problemsOf({ issues }: z.ZodError, given: unknown): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [problemText(issue.path, given, issue.message)];
    return issue.keys.map((key) => `${describePath([...issue.path, key])}: unknown field`);
  });
}

function problemText(path: readonly PropertyKey[], given: unknown, accepted: string): string {
  const value = valueAt(path, given);
  const got = value === undefined ? 'missing' : `got ${JSON.stringify(value)}`;
  return `${describePath(path)}: must be ${accepted} (${got})`;
}

function describePath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'document';
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function valueAt(path: readonly PropertyKey[], given: unknown): unknown {
  return path.reduce<unknown>((value, part) => (isRecord(value) ? ownValue(value, String(part)) : undefined), given);
}

function isRecord(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return typeof value === 'object' && value !== null;
}
