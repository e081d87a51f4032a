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

/** The node in a kubelet's Events. Without a uid: the kubelet does not know it yet. */
export function buildNodeReference(name: string, uid?: string): ObjectReference {
  return { kind: 'Node', name, ...(uid ? { uid } : {}), apiVersion: 'v1' };
}
