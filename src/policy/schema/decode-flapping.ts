import { parseGoDuration } from '../../machinery/api/go-duration.ts';
import type { FlappingRule } from '../../controller/model/policy.ts';
import type { PolicyInput } from './policy-schema.ts';

const initialDefault = '5m';
export const maxDefault = '1h';
const budgetDefault = { percent: 10, count: 1 } as const;

/** A valid rule for flapping nodes as the controller uses it. */
export function decodeFlapping(flapping: NonNullable<PolicyInput['flapping']>): FlappingRule {
  const { recoveries, within, initial = initialDefault, max = maxDefault, budget = budgetDefault } = flapping;
  return {
    recoveries,
    withinMs: toMs(within),
    initialMs: toMs(initial),
    maxMs: toMs(max),
    budget: { percent: budget.percent, count: budget.count },
  };
}

/** Validated before: a duration of 0 keeps no node. */
function toMs(duration: string): number {
  return parseGoDuration(duration) ?? 0;
}
