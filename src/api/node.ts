import { type Condition, listConditions } from './conditions.ts';
import type { KubeObject } from './meta.ts';
import { listTaints, type Taint } from './taints.ts';
import { parseTimestamp } from './timestamps.ts';
import type { Labels } from './topology.ts';

/** A Node as on the wire, as far as we read or write it. */
export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[] | null;
    readonly providerID?: string;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[] | null;
    readonly nodeInfo?: Readonly<Record<string, string>>;
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly allocatable?: Readonly<Record<string, string>>;
  };
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
}

/** Projects a node while it is decoded. Never throws: what is missing or of the wrong type becomes empty. */
export function viewNode(node: Node): NodeView {
  const { metadata, spec, status } = node;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    createdAtMs: parseTimestamp(metadata.creationTimestamp) ?? 0,
    labels: metadata.labels ?? {},
    unschedulable: spec?.unschedulable === true,
    taints: listTaints(spec?.taints),
    conditions: listConditions(status?.conditions),
  };
}
