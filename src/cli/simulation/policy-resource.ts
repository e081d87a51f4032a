// NodeLifecyclePolicy as the embedded API server serves it: validated by the schema and rules of the controller itself.
import { policyResource } from '../../machinery/api/node-lifecycle-policy.ts';
import type { FieldError } from '../../hollow-cluster/apiserver/api-errors/field-errors.ts';
import { customResource, type ServedResource } from '../../hollow-cluster/apiserver/resources.ts';
import { readPolicyInput } from '../../policy/schema/policy-object-reader.ts';

import definition from './policy-crd.json' with { type: 'json' };

/** For the option `customResources` of the embedded API server. */
export function servedPolicies(): ServedResource {
  const [version] = definition.spec.versions;
  return customResource(policyResource, {
    schema: version?.schema.openAPIV3Schema ?? {},
    columns: version?.additionalPrinterColumns ?? [],
    validate: ({ metadata: { name }, spec }) => {
      const read = readPolicyInput({ metadata: { name }, spec });
      return 'problems' in read ? read.problems.map(toFieldError) : [];
    },
  });
}

const parts = /^(.*?): must be (.*) \((?:missing|got (.*))\)$/s;

/** `spec.mode: must be one of A, B (got "C")` as a cause of a Status. */
function toFieldError(problem: string): FieldError {
  const [, field = '', accepted = problem, value] = parts.exec(problem) ?? [];
  if (value === undefined)
    return { field, reason: 'FieldValueRequired', message: `Required value: must be ${accepted}` };
  if (accepted.startsWith('one of '))
    return { field, reason: 'FieldValueNotSupported', message: `Unsupported value: ${value}: must be ${accepted}` };
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${value}: must be ${accepted}` };
}
