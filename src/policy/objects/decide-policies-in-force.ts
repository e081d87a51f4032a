// Decides which version of each NodeLifecyclePolicy object is in force.
import { compare } from '../../machinery/api/compare.ts';
import { policiesMax, type PolicyObject, resetAnnotation } from '../../machinery/api/node-lifecycle-policy.ts';
import { sameJson } from '../../machinery/api/json-values.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { cutText } from '../../machinery/api/limits.ts';
import { parseTimestamp } from '../../machinery/api/timestamps.ts';

/** What one object says. Each problem names the field, what is accepted and the value. */
export type ReadPolicyObject = (
  object: Pick<PolicyObject, 'spec'> & { readonly metadata: { readonly name: string } },
) =>
  | { readonly policy: NodePolicy }
  /** `guard`: what pauses the nodes that an invalid object selects, if that can be read. */
  | { readonly problems: readonly string[]; readonly guard: NodePolicy | undefined };

/** A version of an object that is in force. */
interface PolicyInForce {
  /** The policy as the spec says it, or what pauses the nodes that it selects. */
  readonly policy: NodePolicy;
  /**
   * Generation of the object with this uid; older than the current one where that is invalid. `paused`: no valid version is known,
   * so the nodes that the object selects are paused.
   */
  readonly generation: number | 'paused';
  readonly uid: string;
}

/** The result for the current version of an object. */
export interface PolicyAssessment {
  readonly object: PolicyObject;
  readonly reason: 'Valid' | 'Invalid' | 'TooManyPolicies';
  /** Empty if it is in force. */
  readonly problems: readonly string[];
  /** Undefined: the nodes that it selects have another policy or the default. */
  readonly inForce: PolicyInForce | undefined;
  /** What resets its breaker, the annotation of the object included; undefined if no version is in force. */
  readonly reset: ResetDecision | undefined;
}

/** Assessments by the name of the object. */
export type PolicyAssessments = ReadonlyMap<string, PolicyAssessment>;

/**
 * An object that is invalid keeps the last version of its name that was in force, as long as this process knows it: its own, or
 * that of the object which it replaces. Without one it pauses the nodes that it selects: a restart ends no protection. Of too many objects the oldest ones count, and of those of one second the ones that are
 * in force. `before`: the assessments so far; a policy that did not change is the same value. `nowMs`: wall time.
 */
export function decidePoliciesInForce(
  objects: Iterable<PolicyObject>,
  before: PolicyAssessments,
  read: ReadPolicyObject,
  nowMs: number,
): PolicyAssessments {
  const known = [...objects].map((object) => ({ object, last: before.get(object.name)?.inForce }));
  return new Map(
    known.sort(compareAge).map(({ object, last }, place) => {
      const decided = place < policiesMax ? decideOne(object, last, read) : tooMany(object);
      return [
        object.name,
        { ...decided, reset: decided.inForce && decideReset(object.reset, decided.inForce.policy, nowMs) },
      ];
    }),
  );
}

/** The policies in force in the order of their names, with the resets of their annotations. */
export function selectPoliciesInForce(assessments: PolicyAssessments): readonly NodePolicy[] {
  const policies = [...assessments.values()].flatMap(({ inForce, reset }) => {
    return inForce === undefined ? [] : [withReset(inForce.policy, reset)];
  });
  return policies.sort((a, b) => compare(a.name, b.name));
}

type Decided = Omit<PolicyAssessment, 'reset'>;

function decideOne(object: PolicyObject, last: PolicyInForce | undefined, read: ReadPolicyObject): Decided {
  const result = read({ metadata: { name: object.name }, spec: object.spec });
  if ('problems' in result) {
    const { problems, guard } = result;
    const { uid } = object;
    const guarded = guard && ({ policy: guard, generation: 'paused', uid } as const);
    return {
      object,
      reason: 'Invalid',
      problems,
      inForce: last?.generation === 'paused' ? (guarded ?? last) : (last ?? guarded),
    };
  }
  const isSame = last !== undefined && sameJson(last.policy, result.policy);
  const policy = isSame ? last.policy : result.policy;
  const { generation, uid } = object;
  return { object, reason: 'Valid', problems: [], inForce: { policy, generation, uid } };
}

function tooMany(object: PolicyObject): Decided {
  const problem = `metadata.name: only the ${policiesMax} oldest NodeLifecyclePolicy objects are in force`;
  return { object, reason: 'TooManyPolicies', problems: [problem], inForce: undefined };
}

interface KnownObject {
  readonly object: PolicyObject;
  readonly last: PolicyInForce | undefined;
}

/** Times of creation have whole seconds. */
function compareAge(a: KnownObject, b: KnownObject): number {
  const inForceFirst = Number(b.last !== undefined) - Number(a.last !== undefined);
  return compare(a.object.createdAt, b.object.createdAt) || inForceFirst || compare(a.object.name, b.object.name);
}

/** Maximum length of the value in a message. */
const valueCharsMax = 64;

/** Times are wall time. */
interface ResetDecision {
  /** The time of the reset in force, or of one to come; undefined: none. */
  readonly resetAtMs: number | undefined;
  /** Why the annotation does not count now; undefined: it counts, or there is none. */
  readonly problem: string | undefined;
  /** When the decision becomes another one; Infinity: never. */
  readonly changesAtMs: number;
}

/** The reset of the annotation, by its value, and of `limits.resetAt` together. Of two times that are not in the future the later one counts. */
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
