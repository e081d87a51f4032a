import type { ObjectReference } from '../api/meta.ts';

/** Namespace of events about cluster-scoped objects. */
const clusterEventNamespace = 'default';

/** Only the identifying fields, and no empty ones: a resourceVersion would make every event distinct. */
export function buildReference({
  kind,
  namespace,
  name,
  uid,
  apiVersion,
  fieldPath,
}: ObjectReference): ObjectReference {
  return {
    kind,
    ...(namespace ? { namespace } : {}),
    name,
    ...(uid ? { uid } : {}),
    ...(apiVersion ? { apiVersion } : {}),
    ...(fieldPath ? { fieldPath } : {}),
  };
}

/** Namespace of an event about this object. */
export function selectEventNamespace({ namespace }: ObjectReference): string {
  return namespace === undefined || namespace === '' ? clusterEventNamespace : namespace;
}

/**
 * Form of references to the node in a kubelet's events. `name`: the node's name as the uid and no apiVersion, as
 * kubelets up to 1.28; `kubectl describe node` searches for that besides the real uid. `none`: name and apiVersion only,
 * as newer kubelets. `real`: the real uid, as the node controllers.
 */
export type NodeEventUid = 'name' | 'real' | 'none';

const nodeEventUidDefault: NodeEventUid = 'name';

/** ObjectReference of the node of an event. `real` is the same as `none` while the node's uid is not known. */
export function buildNodeReference(
  node: { readonly name: string; readonly uid?: string | undefined },
  nodeEventUid: NodeEventUid = nodeEventUidDefault,
): ObjectReference {
  const { name, uid } = node;
  if (nodeEventUid === 'name') return { kind: 'Node', name, uid: name };
  const known = nodeEventUid === 'real' && uid !== undefined && uid !== '';
  return { apiVersion: 'v1', kind: 'Node', name, ...(known ? { uid } : {}) };
}
