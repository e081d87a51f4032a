/** What the validation of a pod spec admits beside what it always does (upstream `PodValidationOptions`). */
import type { ServerGate } from '../feature-gates.ts';
import { mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';

export interface PodValidationOptions {
  /** Tolerations with the operators `Lt` and `Gt`. */
  readonly comparingTolerations: boolean;
}

/** `before` is the stored spec of an update: what it has already stays valid when the gate is off. */
export function podValidationOptions(
  gates: ReadonlySet<ServerGate>,
  before: MutableJsonMap | undefined,
): PodValidationOptions {
  const inUse = mapsAt(before, 'tolerations').some((toleration) => isComparison(textAt(toleration, 'operator')));
  return { comparingTolerations: inUse || gates.has('TaintTolerationComparisonOperators') };
}

function isComparison(operator: string): boolean {
  return operator === 'Lt' || operator === 'Gt';
}
