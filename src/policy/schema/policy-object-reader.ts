// Reads NodeLifecyclePolicy objects by the same schema and rules as policies of the config file.
import { z } from 'zod';
import { mapOf } from '../../machinery/api/json-map.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { decodePolicies } from './decode-policies.ts';
import { describeSchemaIssue } from './describe-schema-issue.ts';
import { type PolicyInput, policyNameSchema, policySpecSchema, selectSoundFields } from './policy-schema.ts';
import { toPolicyInput } from './to-policy-object.ts';
import { validatePolicies } from './validate-policies.ts';

const objectError = 'a mapping';
const schema = z.object(
  { metadata: z.object({ name: policyNameSchema }, { error: objectError }), spec: policySpecSchema },
  { error: objectError },
);

interface GivenObject {
  readonly metadata: { readonly name: unknown };
  readonly spec: unknown;
}

/** Each problem names the field, what is accepted and the value. */
type ReadInput = { readonly input: PolicyInput } | { readonly problems: readonly string[] };
type ReadPolicy =
  | { readonly policy: NodePolicy }
  /** `guard`: what pauses the nodes that the object selects; undefined: its selector cannot be read. */
  | { readonly problems: readonly string[]; readonly guard: NodePolicy | undefined };

export function readPolicyInput({ metadata, spec }: GivenObject): ReadInput {
  const given = { metadata: { name: metadata.name }, spec };
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const { issues } = parsed.error;
    // A path is metadata.name, spec or spec.FIELD.
    const faulty = new Set(issues.map(({ path }) => path[1]));
    const sound = selectSoundFields({ ...mapOf(spec), name: metadata.name }, faulty, 0);
    const problems = issues.flatMap((issue) => describeSchemaIssue(issue, given));
    return { problems: [...new Set([...problems, ...validateRules(sound)])] };
  }
  const input = toPolicyInput(parsed.data);
  const problems = validateRules(input);
  return problems.length > 0 ? { problems } : { input };
}

function validateRules(input: PolicyInput): readonly string[] {
  return validatePolicies([input]).map((problem) => problem.replace(/^policies\[0\]/, 'spec'));
}

/** The policy of one object, as the controller uses it. */
export function readPolicyObject(object: GivenObject): ReadPolicy {
  const read = readPolicyInput(object);
  if ('problems' in read) return { ...read, guard: readGuard(object) };
  const [policy] = decodePolicies([read.input]);
  return policy === undefined ? { problems: ['spec: no policy'], guard: undefined } : { policy };
}

/** Priority of a guard where that of the object cannot be read: no other policy may end the protection. */
const highestPriority = 2 ** 31 - 1;

/**
 * An invalid object was meant for the nodes that it selects: they are paused until it is valid. Undefined if its name or its selector
 * cannot be read.
 */
export function readGuard({ metadata, spec }: GivenObject): NodePolicy | undefined {
  const name = policyNameSchema.safeParse(metadata.name);
  const { nodeSelector, priority } = policySpecSchema.shape;
  const given = mapOf(spec);
  const selector = nodeSelector.safeParse(given['nodeSelector']);
  const claimed = priority.safeParse(given['priority']);
  if (!name.success || !selector.success) return undefined;
  const claims = { priority: claimed.success ? (claimed.data ?? 0) : highestPriority, nodeSelector: selector.data };
  return decodePolicies([{ name: name.data, ...claims, mode: 'Paused' }])[0];
}
