import type { ObjectMeta } from './meta.ts';

/** `namespace/name`, or `name` alone for a cluster-scoped object: the key of every store and queue. */
export type ObjectKey = string;

export function objectKey(namespace: string | undefined, name: string): ObjectKey {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function keyOf(metadata: ObjectMeta): ObjectKey {
  return objectKey(metadata.namespace, metadata.name ?? '');
}

/** The inverse of {@link objectKey}. A key without a slash has no namespace. */
export function splitKey(key: ObjectKey): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
