import { parseGoDuration } from '../../machinery/api/go-duration.ts';
import { flappingMaxDefault } from './decode-policies.ts';
import { refusal } from './describe-schema-issue.ts';
import type { PolicyInput } from './policy-schema.ts';

const durations = ['within', 'initial', 'max'] as const;

/** What the schema of the field cannot say. */
export function validateFlapping({ flapping }: PolicyInput, index: number): readonly string[] {
  if (flapping === undefined) return [];
  const path = ['policies', index, 'flapping'];
  const malformed = durations.filter((field) => flapping[field] !== undefined && msOf(flapping[field]) === 0);
  const { budget } = flapping;
  const isEmpty = budget !== undefined && budget.percent === undefined && budget.count === undefined;
  return [
    ...malformed.map((field) => refusal([...path, field], 'a duration > 0 and below 292 years', flapping[field])),
    ...(isEmpty ? [refusal([...path, 'budget'], 'percent, count or both', budget)] : []),
    ...(malformed.length === 0 ? validateMax(flapping, path) : []),
  ];
}

function validateMax(
  { initial, max }: NonNullable<PolicyInput['flapping']>,
  path: readonly PropertyKey[],
): readonly string[] {
  if (initial === undefined || msOf(initial) <= msOf(max ?? flappingMaxDefault)) return [];
  return [refusal([...path, 'initial'], `at most max, which is ${max ?? `${flappingMaxDefault} if not set`}`, initial)];
}

/** 0: not a duration > 0. */
function msOf(duration: string | undefined): number {
  return duration === undefined ? 0 : Math.max(0, parseGoDuration(duration) ?? 0);
}
