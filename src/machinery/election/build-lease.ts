import type { Lease, LeaseSpec } from '../api/lease.ts';
import { groupVersion, resources } from '../api/resources.ts';
import { formatMicroTime } from '../api/timestamps.ts';

export interface Claim {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Wall time, for the lease's timestamps. */
  readonly nowMs: number;
}

const releasedDurationSeconds = 1;

/** When a leader last noticed that the storage was restored from a backup: shows it to those that were cut off then. */
const restoreAnnotation = 'nodelifecycle/storage-restored-at';

export function restoreMarkOf(lease: Lease): string | undefined {
  return lease.metadata.annotations?.[restoreAnnotation];
}

export function withRestoreMark(lease: Lease, mark: string | undefined): Lease {
  if (mark === undefined || restoreMarkOf(lease) === mark) return lease;
  const annotations = { ...lease.metadata.annotations, [restoreAnnotation]: mark };
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}

/** The lease of its first holder. Transitions start at 0 (client-go `tryAcquireOrRenew`, step 1). */
export function buildFirstLease(claim: Claim): Lease {
  const { namespace, name } = claim;
  return {
    apiVersion: groupVersion(resources.leases),
    kind: resources.leases.kind,
    metadata: { namespace, name },
    spec: { ...claimFields(claim), acquireTime: formatMicroTime(claim.nowMs), leaseTransitions: 0 },
  };
}

/** Renews this process's lease: acquireTime and leaseTransitions stay. */
export function buildRenewedLease(current: Lease, claim: Claim): Lease {
  return { ...current, spec: { ...current.spec, ...claimFields(claim) } };
}

/** Takes over another process's lease: leaseTransitions + 1. Unknown fields stay; an old preferredHolder is removed. */
export function buildTakenLease(current: Lease, claim: Claim): Lease {
  const leaseTransitions = (current.spec?.leaseTransitions ?? 0) + 1;
  const acquireTime = formatMicroTime(claim.nowMs);
  const withoutPreference = current.spec?.preferredHolder ? { preferredHolder: null } : {};
  return {
    ...current,
    spec: { ...current.spec, ...claimFields(claim), ...withoutPreference, acquireTime, leaseTransitions },
  };
}

/** Releases this process's lease: an empty holder, so that any contender may take it at once (client-go `LeaderElector.release`). */
export function buildReleasedLease(current: Lease, nowMs: number): Lease {
  const now = formatMicroTime(nowMs);
  const released = { holderIdentity: '', leaseDurationSeconds: releasedDurationSeconds, renewTime: now };
  return { ...current, spec: { ...current.spec, ...released, acquireTime: now } };
}

/** Whole seconds on the wire, rounded up: others may wait longer than this process relies on, never shorter. */
function claimFields({ identity, leaseDurationMs, nowMs }: Claim): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
    renewTime: formatMicroTime(nowMs),
  };
}
