import { type Condition, readConditions } from './conditions.ts';
import { FieldReader } from './field-reader.ts';
import type { KubeObject } from './meta.ts';
import { type Taint, taintTexts } from './taints.ts';
import type { Labels } from './topology.ts';

/** A Node as on the wire, as far as we read or write it. */
export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[] | null;
    readonly providerID?: string;
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
    /** Of old: what the machine is called by its cloud. */
    readonly externalID?: string;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[] | null;
    readonly nodeInfo?: Readonly<Record<string, string>>;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
    readonly images?: readonly NodeImage[] | null;
    readonly volumesInUse?: readonly string[] | null;
    readonly runtimeHandlers?: readonly Readonly<Record<string, unknown>>[];
    readonly features?: Readonly<Record<string, boolean>>;
    readonly declaredFeatures?: readonly string[];
  };
}

/** An image that is on a node: its digests, then its tags. */
export interface NodeImage {
  readonly names?: readonly string[];
  readonly sizeBytes?: number;
}

/** What the controller keeps of a node: a read-only snapshot. */
export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Wall time, set by the API server. 0 where it was missing or unreadable. */
  readonly createdAtMs: number;
  readonly labels: Labels;
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  readonly conditions: readonly Condition[];
  /** Another one after each boot, as its kubelet says; empty where it did not. */
  readonly bootID: string;
  /** What was not as it should be when it arrived. */
  readonly flaws?: readonly string[];
}

/** Projects a node while it is decoded. Never throws: what is missing or of the wrong type becomes empty, and is told. */
export function viewNode(node: Node): NodeView {
  const fields = new FieldReader();
  const metadata = fields.part('metadata', node.metadata);
  const spec = fields.part('spec', node.spec);
  const status = fields.part('status', node.status);
  const view = {
    name: fields.neededText('metadata.name', metadata['name']),
    uid: fields.neededText('metadata.uid', metadata['uid']),
    resourceVersion: fields.text('metadata.resourceVersion', metadata['resourceVersion']),
    createdAtMs: fields.time('metadata.creationTimestamp', metadata['creationTimestamp']) ?? 0,
    labels: fields.labels('metadata.labels', metadata['labels']),
    unschedulable: fields.flag('spec.unschedulable', spec['unschedulable']),
    taints: fields.items<Taint>('spec.taints', spec['taints'], taintTexts),
    conditions: readConditions(fields, status['conditions']),
    bootID: fields.text('status.nodeInfo.bootID', fields.part('status.nodeInfo', status['nodeInfo'])['bootID']),
  };
  return fields.flaws === undefined ? view : { ...view, flaws: fields.flaws };
}
