import type { ObjectReference } from '../api/meta.ts';

/**
 * How a kubelet's events name its node. `name`: by its name as the uid and without a version, as kubelets to 1.28 do, which is
 * what `kubectl describe node` looks for besides the real uid. `none`: by name and version alone, as newer ones do.
 * `real`: as the node controllers do.
 */
export type NodeEventUid = 'name' | 'real' | 'none';

export const nodeEventUidDefault: NodeEventUid = 'name';

/** The node that an event is about. `real` is as `none` while the node's uid is not known. */
export function deriveNodeReference(
  node: { readonly name: string; readonly uid?: string | undefined },
  nodeEventUid: NodeEventUid = nodeEventUidDefault,
): ObjectReference {
  const { name, uid } = node;
  if (nodeEventUid === 'name') return { kind: 'Node', name, uid: name };
  const known = nodeEventUid === 'real' && uid !== undefined && uid !== '';
  return { apiVersion: 'v1', kind: 'Node', name, ...(known ? { uid } : {}) };
}
