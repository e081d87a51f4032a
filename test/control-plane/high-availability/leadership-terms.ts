// Leadership terms, from the accepted writes to the lease.
import type { AuditedRequest } from '../audit-trail.ts';

export interface Term {
  readonly user: string;
  /** When the writes that acquired, last renewed and released the lease were received. */
  readonly takenAtMs: number;
  readonly renewedAtMs: number;
  readonly releasedAtMs: number | undefined;
}

interface LeaseBody {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly holderIdentity?: string; readonly leaseTransitions?: number };
}

function isLeaseWrite({ resource, namespace, name, verb }: AuditedRequest): boolean {
  const isElectionLease = resource === 'leases' && namespace === 'kube-system' && name === 'node-lifecycle-controller';
  return isElectionLease && verb !== 'get';
}

/** In the order of resourceVersion. */
export function findTerms(requests: readonly AuditedRequest[]): readonly Term[] {
  const writes = requests.filter((request) => isLeaseWrite(request) && request.code < 300);
  const terms: Term[] = [];
  for (const { user, atMs, answer } of writes.toSorted((a, b) => versionOf(a) - versionOf(b))) {
    const last = terms.at(-1);
    const isHeld = ((answer as LeaseBody).spec.holderIdentity ?? '') !== '';
    if (last?.user !== user || last.releasedAtMs !== undefined)
      terms.push({ user, takenAtMs: atMs, renewedAtMs: atMs, releasedAtMs: undefined });
    else terms[terms.length - 1] = isHeld ? { ...last, renewedAtMs: atMs } : { ...last, releasedAtMs: atMs };
  }
  return terms;
}

export function versionOf({ answer }: AuditedRequest): number {
  return Number((answer as LeaseBody | undefined)?.metadata.resourceVersion ?? 0);
}
