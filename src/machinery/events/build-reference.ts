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
 * The node in a kubelet's Events: its name as the uid and no apiVersion, as kubelets up to 1.28 have it; `kubectl describe
 * node` searches for that besides the real uid.
 */
export function buildNodeReference(name: string): ObjectReference {
  return { kind: 'Node', name, uid: name };
}
