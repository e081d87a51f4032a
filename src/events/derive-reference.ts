import type { ObjectReference } from '../api/meta.ts';

/** Where events about objects without a namespace live. */
export const clusterEventNamespace = 'default';

/** Only what names the object, and nothing that is empty: a version would make every event another one. */
export function deriveReference({
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

/** The namespace in which an event about it lives. */
export function deriveEventNamespace({ namespace }: ObjectReference): string {
  return namespace === undefined || namespace === '' ? clusterEventNamespace : namespace;
}
