// Problems of a schema as text: the path of the field, what is accepted, and the value. The message of an issue is what
// the schema says is accepted.
import type * as z from 'zod';
import { cutText } from '../../machinery/api/limits.ts';

const valueCharsMax = 60;

const plainKey = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** One text for each problem of the issue. `given`: what was validated. */
export function describeSchemaIssue(issue: z.core.$ZodIssue, given: unknown): readonly string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) => `${formatFieldPath([...issue.path, key])}: unknown field; accepted: ${issue.message}`,
    );
  }
  const key = issue.code === 'invalid_key' ? issue.path.at(-1) : undefined;
  return [refusal(issue.path, issue.message, key ?? valueAt(given, issue.path))];
}

/** `PATH: must be ACCEPTED (got VALUE)`. */
export function refusal(path: readonly PropertyKey[], accepted: string, value: unknown): string {
  return `${formatFieldPath(path)}: must be ${accepted} (${value === undefined ? 'missing' : `got ${shown(value)}`})`;
}

function shown(value: unknown): string {
  return cutText(JSON.stringify(value), valueCharsMax);
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }, given);
}

/** `policies[1].nodeSelector.matchLabels["example.com/pool"]`. */
function formatFieldPath(path: readonly PropertyKey[]): string {
  return path.map((key, index) => formatKey(key, index === 0)).join('');
}

function formatKey(key: PropertyKey, isFirst: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  const text = String(key);
  if (!plainKey.test(text)) return `[${JSON.stringify(text)}]`;
  return isFirst ? text : `.${text}`;
}
