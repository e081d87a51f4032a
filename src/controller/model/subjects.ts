// What Events are about.
import type { ObjectReference } from '../../machinery/api/meta.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import { nodeLeaseNamespace } from '../../machinery/api/resources.ts';

export type NodeIdentity = Pick<NodeView, 'name' | 'uid'>;

export function aboutNode({ name, uid }: NodeIdentity): ObjectReference {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

export function aboutPod({ namespace, name, uid }: Pick<PodView, 'namespace' | 'name' | 'uid'>): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}

/** The namespace of the node leases, for what affects many nodes: no single Node is the regarding object. */
export const aboutNodeLeases: ObjectReference = { apiVersion: 'v1', kind: 'Namespace', name: nodeLeaseNamespace };
