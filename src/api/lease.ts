import { FieldReader } from './field-reader.ts';
import type { KubeObject } from './meta.ts';

export interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  /** `MicroTime`: exactly six fractional digits. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
  /** Whom a coordinator wants to lead. */
  readonly preferredHolder?: string | null;
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
  /** What was not as it should be when it arrived. */
  readonly flaws?: readonly string[];
}

/** Projects a lease while it is decoded. Never throws. */
export function viewLease(lease: Lease): LeaseView {
  const fields = new FieldReader();
  const metadata = fields.part('metadata', lease.metadata);
  const spec = fields.part('spec', lease.spec);
  const renewTime = fields.text('spec.renewTime', spec['renewTime']);
  fields.time('spec.renewTime', renewTime === '' ? undefined : renewTime);
  const view = {
    name: fields.neededText('metadata.name', metadata['name']),
    uid: fields.text('metadata.uid', metadata['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', metadata['resourceVersion']),
    renewTime: renewTime === '' ? undefined : renewTime,
  };
  return fields.flaws === undefined ? view : { ...view, flaws: fields.flaws };
}
