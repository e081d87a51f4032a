import type { EventDraft } from '../../api/event.ts';
import { policyApiVersion, policyResource } from '../../api/node-lifecycle-policy.ts';

/** The current version of an object is not in force: once for each version. */
export function policyNotAccepted(
  { name, uid }: { readonly name: string; readonly uid: string },
  message: string,
): EventDraft {
  return {
    about: { apiVersion: policyApiVersion, kind: policyResource.kind, name, uid },
    type: 'Warning',
    reason: 'PolicyNotAccepted',
    message,
  };
}
