import { decodeManagers, type ManagerEntry } from '../managed-fields/manager-entry.ts';
import { type Draft, StoredObject } from '../storage/stored-object.ts';
import type { Strategy } from '../kinds/strategy.ts';

/**
 * The version of a draft that the store keeps. The draft may be used again. Without `managers`, they are those of its
 * `metadata.managedFields`.
 */
export function buildStored(
  strategy: Strategy,
  draft: Draft,
  revision: number,
  managers: readonly ManagerEntry[] = decodeManagers(draft.metadata['managedFields']) ?? [],
): StoredObject {
  const { managedFields: _managedFields, ...fields } = draft.metadata;
  const metadata: Draft['metadata'] = { ...fields, resourceVersion: String(revision) };
  const name = metadata.name ?? '';
  const namespace = metadata.namespace ?? '';
  const located = strategy.namespaced ? { 'metadata.namespace': namespace } : {};
  const { metadata: _metadata, ...rest } = draft;
  const about = {
    key: keyOfDraft(strategy, draft),
    namespace,
    name,
    uid: metadata.uid ?? '',
    revision,
    labels: metadata.labels ?? {},
    fields: { 'metadata.name': name, ...located, ...strategy.fieldsOf(draft) },
  };
  return new StoredObject(about, { metadata, ...rest }, managers);
}

/** The key under which a draft is stored. */
export function keyOfDraft(strategy: Strategy, { metadata }: Draft): string {
  const name = metadata.name ?? '';
  return strategy.namespaced ? `${metadata.namespace ?? ''}/${name}` : name;
}
