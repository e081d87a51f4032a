import * as z from 'zod';
import { type JsonMap, mapOf } from '../../src/machinery/api/json-map.ts';
import { buildPolicyCrd, buildPolicySchema } from './build-policy-crd.ts';
import { policySpecSchema } from '../../src/policy/schema/policy-schema.ts';

/** The CustomResourceDefinition of NodeLifecyclePolicy, from the schema of a policy. */
export function policyCrd(): JsonMap {
  return buildPolicyCrd(specSchema());
}

/** The schema of an object, as in the definition. */
export function policyObjectSchema(): JsonMap {
  return buildPolicySchema(specSchema());
}

function specSchema(): JsonMap {
  return mapOf(z.toJSONSchema(policySpecSchema, { target: 'draft-7', io: 'input' }));
}
