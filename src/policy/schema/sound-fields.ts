// What the rules between fields can check although other fields are malformed, so that all problems are reported at once.
import { mapOf } from '../../machinery/api/json-map.ts';
import { type PolicyInput, policySchema } from './policy-schema.ts';

/** Rules about the field need the other one. */
const needs: ReadonlyMap<string, string> = new Map([['outerFailureDomain', 'failureDomain']]);

/** A policy without its faulty fields; in place of a required one a value that breaks no rule. */
export function selectSoundFields(
  policy: unknown,
  faulty: ReadonlySet<PropertyKey | undefined>,
  index: number,
): PolicyInput {
  const isSound = (field: string): boolean => Object.hasOwn(policySchema.shape, field) && !faulty.has(field);
  const sound = Object.entries(mapOf(policy)).filter(([field]) => isSound(field) && isSound(needs.get(field) ?? field));
  const neutral = { name: `malformed-policy-${index}`, nodeSelector: { matchLabels: { malformed: '' } } };
  const parsed = policySchema.safeParse({ ...neutral, ...Object.fromEntries(sound) });
  return parsed.success ? parsed.data : neutral;
}
