import type { EventDraft } from '../../machinery/api/event.ts';
import { policyApiVersion, policyResource } from '../../machinery/api/node-lifecycle-policy.ts';

type PolicyIdentity = Readonly<Record<'name' | 'uid', string>>;

/** The current version of an object is not in force: once for each version. */
export function policyNotAccepted(subject: PolicyIdentity, message: string): EventDraft {
  return { about: aboutPolicy(subject), type: 'Warning', reason: 'PolicyNotAccepted', message };
}

/** The annotation that resets the breaker does not count now: once for each value. */
export function invalidResetAnnotation(subject: PolicyIdentity, message: string): EventDraft {
  return { about: aboutPolicy(subject), type: 'Warning', reason: 'InvalidResetAnnotation', message };
}

function aboutPolicy({ name, uid }: PolicyIdentity): EventDraft['about'] {
  return { apiVersion: policyApiVersion, kind: policyResource.kind, name, uid };
}
