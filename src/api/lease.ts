import type { KubeObject } from './meta.ts';

export interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  /** `MicroTime`: exactly six fractional digits. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
}

/** A Lease as on the wire. A node's carries the node's name and lives in `kube-node-lease`. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** What the controller keeps of a node's lease. */
export interface LeaseView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** As written by the kubelet's clock: compared with itself only, never with ours. */
  readonly renewTime: string | undefined;
}

/** Projects a lease while it is decoded. Never throws. */
export function viewLease(lease: Lease): LeaseView {
  return {
    name: lease.metadata.name ?? '',
    uid: lease.metadata.uid ?? '',
    resourceVersion: lease.metadata.resourceVersion ?? '',
    renewTime: lease.spec?.renewTime ?? undefined,
  };
}
