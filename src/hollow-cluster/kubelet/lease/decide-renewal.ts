import type { ApiReason } from '../../../machinery/api/api-error.ts';
import type { Lease } from '../../../machinery/api/lease.ts';
import type { OwnerReference } from '../../../machinery/api/meta.ts';
import { nodeLeaseNamespace } from '../../../machinery/api/resources.ts';
import { formatMicroTime } from '../../../machinery/api/timestamps.ts';

/** Writes of one renewal, conflicts included (component-helpers `maxUpdateRetries`). */
export const leaseTriesMax = 5;

type AfterFailedReplace = 'ensure-again' | 'try-again' | 'give-up';

/**
 * Step after a failed update. Only a conflict requires a fresh read; any other failure, including not-found, is retried
 * at once with the same base (component-helpers `retryUpdateLease`).
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

/** The first lease of a node. The owner reference has it garbage-collected with the Node object. */
export function buildNewLease(terms: LeaseTerms, owner: OwnerReference): Lease {
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

/** The lease after a renewal. Holder and resourceVersion stay: a concurrent write must cause a conflict. */
export function buildRenewedLease(lease: Lease, terms: LeaseTerms, owner: OwnerReference | undefined): Lease {
  return {
    ...lease,
    metadata: owner === undefined ? lease.metadata : { ...lease.metadata, ownerReferences: [owner] },
    spec: { ...lease.spec, leaseDurationSeconds: terms.durationSeconds, renewTime: formatMicroTime(terms.nowMs) },
  };
}

export function isOwned(lease: Lease): boolean {
  return (lease.metadata.ownerReferences ?? []).length > 0;
}
