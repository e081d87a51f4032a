// Decides what the annotation of an object and the field `limits.resetAt` together reset now.
import { resetAnnotation } from '../../machinery/api/node-lifecycle-policy.ts';
import { cutText } from '../../machinery/api/limits.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';

/** Maximum length of the value in a message. */
const valueCharsMax = 64;

/** Times are wall time. */
export interface ResetDecision {
  /** The time of the reset in force, or of one to come; undefined: none. */
  readonly resetAtMs: number | undefined;
  /** Why the annotation does not count now; undefined: it counts, or there is none. */
  readonly problem: string | undefined;
  /** When the decision becomes another one; Infinity: never. */
  readonly changesAtMs: number;
}

/** `annotation`: its value. Of two times that are not in the future the later one counts. */
export function decideReset(annotation: string | undefined, { limits }: NodePolicy, nowMs: number): ResetDecision {
  const none: ResetDecision = { resetAtMs: limits?.resetAtMs, problem: undefined, changesAtMs: Infinity };
  if (annotation === undefined || annotation === '') return none;
  if (limits === undefined)
    return { ...none, problem: describe('absent without spec.limits.maxUnhealthy', annotation) };
  const atMs = parseTimestamp(annotation);
  if (atMs === undefined || atMs > nowMs) {
    const problem = describe('an RFC 3339 time that is not in the future, such as 2026-11-23T18:00:00Z', annotation);
    return { ...none, problem, changesAtMs: atMs ?? Infinity };
  }
  return laterOf(atMs, limits.resetAtMs ?? -Infinity, nowMs);
}

/** A field with a time in the future does not postpone the annotation, and takes effect at its time. */
function laterOf(annotatedMs: number, fieldMs: number, nowMs: number): ResetDecision {
  const isToCome = fieldMs > nowMs;
  return {
    resetAtMs: isToCome ? annotatedMs : Math.max(annotatedMs, fieldMs),
    problem: undefined,
    changesAtMs: isToCome ? fieldMs : Infinity,
  };
}

function describe(accepted: string, value: string): string {
  const shown = JSON.stringify(cutText(value, valueCharsMax));
  return `metadata.annotations[${resetAnnotation}]: must be ${accepted} (got ${shown})`;
}

/** The policy with the reset in force; the same value if the annotation changes nothing. */
export function withReset(policy: NodePolicy, reset: ResetDecision | undefined): NodePolicy {
  const { limits } = policy;
  if (limits === undefined || reset === undefined || reset.resetAtMs === limits.resetAtMs) return policy;
  return { ...policy, limits: { ...limits, resetAtMs: reset.resetAtMs } };
}
