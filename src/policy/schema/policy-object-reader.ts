// Reads NodeLifecyclePolicy objects by the same schema and rules as policies of the config file.
import * as z from 'zod';
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

/**
 * An invalid object was meant for the nodes that it selects: until it is valid its mode holds, and it pauses them if it has none that
 * holds more. Undefined if its name or its selector cannot be read, or select nothing.
 */
export function readGuard({ metadata, spec }: GivenObject): NodePolicy | undefined {
  const name = policyNameSchema.safeParse(metadata.name);
  const given = mapOf(spec);
  const selector = policySpecSchema.shape.nodeSelector.safeParse(given['nodeSelector']);
  if (!name.success || !selector.success) return undefined;
  const mode = given['mode'] === 'Observe' ? 'Observe' : 'Paused';
  const [guard] = decodePolicies([{ name: name.data, nodeSelector: selector.data, mode }]);
  return guard === undefined || guard.selector.length === 0 ? undefined : { ...guard, isGuard: true };
}
