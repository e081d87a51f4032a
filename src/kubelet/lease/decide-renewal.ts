import type { ApiReason } from '../../api/api-error.ts';
import type { Lease } from '../../api/lease.ts';
import type { OwnerReference } from '../../api/meta.ts';
import { nodeLeaseNamespace } from '../../api/resources.ts';
import { formatMicroTime } from '../../api/timestamps.ts';

/** Writes of one renewal, conflicts included (component-helpers `maxUpdateRetries`). */
export const leaseTriesMax = 5;

export type RenewalStep =
  | { readonly next: 'replace'; readonly lease: Lease }
  /** Look it up, or create it. */
  | { readonly next: 'ensure' };

/** How a renewal begins: a lease from the last success is written without asking for it again (component-helpers `sync`). */
export function decideRenewal(held: Lease | undefined): RenewalStep {
  return held === undefined ? { next: 'ensure' } : { next: 'replace', lease: held };
}

export type AfterFailedReplace = 'ensure-again' | 'try-again' | 'give-up';

/**
 * What follows a failed write. Only a conflict calls for a fresh base; everything else, a lease that is not there
 * included, is repeated at once with the same one (component-helpers `retryUpdateLease`).
 */
export function decideAfterFailedReplace(reason: ApiReason, tries: number): AfterFailedReplace {
  if (tries >= leaseTriesMax || reason === 'aborted') return 'give-up';
  return reason === 'conflict' ? 'ensure-again' : 'try-again';
}

export interface LeaseTerms {
  readonly nodeName: string;
  readonly durationSeconds: number;
  /** Wall time. */
  readonly nowMs: number;
}

/** The first lease of a node. It dies with the node object: hence the owner. */
export function deriveNewLease(terms: LeaseTerms, owner: OwnerReference): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: terms.nodeName, namespace: nodeLeaseNamespace, ownerReferences: [owner] },
    spec: {
      holderIdentity: terms.nodeName,
      leaseDurationSeconds: terms.durationSeconds,
      renewTime: formatMicroTime(terms.nowMs),
    },
  };
}

/** The lease after a renewal. Holder and resourceVersion stay: somebody else's write in between must show as a conflict. */
export function deriveRenewedLease(lease: Lease, terms: LeaseTerms, owner: OwnerReference | undefined): Lease {
  return {
    ...lease,
    metadata: owner === undefined ? lease.metadata : { ...lease.metadata, ownerReferences: [owner] },
    spec: {
      ...lease.spec,
      leaseDurationSeconds: terms.durationSeconds,
      renewTime: formatMicroTime(terms.nowMs),
    },
  };
}

export function isOwned(lease: Lease): boolean {
  return (lease.metadata.ownerReferences ?? []).length > 0;
}
