import { FieldReader } from './field-reader.ts';
import type { KubeObject } from './meta.ts';

export interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  /** `MicroTime`: exactly six fractional digits. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number | null;
  /** Identity that a coordinator prefers as the leader. */
  readonly preferredHolder?: string | null;
}

/** A Lease as on the wire. A node's lease has the node's name and is in the namespace `kube-node-lease`. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** The fields of a node's lease that the controller caches. */
export interface LeaseView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Written with the kubelet's clock: compared only with earlier values of itself, never with the local clock. */
  readonly renewTime: string | undefined;
  /** Kubelets renew four times in it. */
  readonly durationSeconds?: number | undefined;
  /** Validation problems found while decoding. */
  readonly problems?: readonly string[];
}

/** Transforms a lease while it is decoded. Never throws. */
export function transformLease(lease: Lease): LeaseView {
  const fields = new FieldReader();
  const metadata = fields.part('metadata', lease.metadata);
  const spec = fields.part('spec', lease.spec);
  // Opaque, so cut rather than absent: the next renewal must differ.
  const renewTime = fields.shownText('spec.renewTime', spec['renewTime']);
  fields.time('spec.renewTime', renewTime === '' ? undefined : renewTime);
  const view = {
    name: fields.requiredText('metadata.name', metadata['name']),
    uid: fields.text('metadata.uid', metadata['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', metadata['resourceVersion']),
    renewTime: renewTime === '' ? undefined : renewTime,
    durationSeconds: fields.whole('spec.leaseDurationSeconds', spec['leaseDurationSeconds']),
  };
  return fields.problems === undefined ? view : { ...view, problems: fields.problems };
}
