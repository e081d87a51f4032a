import type { Lease, LeaseSpec } from '../api/lease.ts';
import { groupVersion, resources } from '../api/resources.ts';
import { formatMicroTime } from '../api/timestamps.ts';

export interface Claim {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Wall time: it is written down for others to read. */
  readonly nowMs: number;
}

const releasedDurationSeconds = 1;

/** The lease for a first holder. Transitions start at 0 (client-go `tryAcquireOrRenew`, step 1). */
export function deriveFirstLease(claim: Claim): Lease {
  const { namespace, name } = claim;
  return {
    apiVersion: groupVersion(resources.leases),
    kind: resources.leases.kind,
    metadata: { namespace, name },
    spec: { ...claimedBy(claim), acquireTime: formatMicroTime(claim.nowMs), leaseTransitions: 0 },
  };
}

/** Our own lease, renewed: when it was acquired and how often it changed hands stays. */
export function deriveRenewedLease(shown: Lease, claim: Claim): Lease {
  return { ...shown, spec: { ...shown.spec, ...claimedBy(claim) } };
}

/** Somebody else's lease, taken over: one transition more. What others keep in it stays, but for an old preference. */
export function deriveTakenLease(shown: Lease, claim: Claim): Lease {
  const leaseTransitions = (shown.spec?.leaseTransitions ?? 0) + 1;
  const acquireTime = formatMicroTime(claim.nowMs);
  const unasked = shown.spec?.preferredHolder ? { preferredHolder: null } : {};
  return { ...shown, spec: { ...shown.spec, ...claimedBy(claim), ...unasked, acquireTime, leaseTransitions } };
}

/** Our lease, given back: nobody holds it, and whoever looks may take it at once (client-go `LeaderElector.release`). */
export function deriveReleasedLease(shown: Lease, nowMs: number): Lease {
  const now = formatMicroTime(nowMs);
  const released = { holderIdentity: '', leaseDurationSeconds: releasedDurationSeconds, renewTime: now };
  return { ...shown, spec: { ...shown.spec, ...released, acquireTime: now } };
}

/** Whole seconds on the wire, rounded up: others may wait longer for us than we count on, never shorter. */
function claimedBy({ identity, leaseDurationMs, nowMs }: Claim): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
    renewTime: formatMicroTime(nowMs),
  };
}
