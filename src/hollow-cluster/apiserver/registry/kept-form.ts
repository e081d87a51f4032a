/** Objects that an earlier version wrote, in the form in which this version writes them. */
import { toCustomForm } from '../codec/custom-form.ts';
import { toWireForm } from '../codec/wire-form.ts';
import { mapAt, type MutableJsonMap } from '../select-field.ts';
import { apiVersionOf, type ServedResource, tableOf } from '../resources.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { Strategy } from '../kinds/strategy.ts';

/** The resource whose form a table of the store has: of events, which two groups serve, the one of the core group. */
export function ofTables(all: readonly ServedResource[]): ReadonlyMap<string, ServedResource> {
  const resources = new Map<string, ServedResource>();
  for (const served of all) {
    const table = tableOf(served);
    if (!resources.has(table) || served.group === '') resources.set(table, served);
  }
  return resources;
}

/**
 * The kept object, decoded and with defaults as a request body would be: without unknown fields, and with canonical
 * quantities, so that its immutable parts equal those of an update. kube-apiserver does the same with what it reads from
 * etcd. Its version, uid and owners stay. Throws a WireFormError for a value that is invalid for its field.
 */
export function keptForm({ metadata, ...fields }: Draft, served: ServedResource, strategy: Strategy): Draft {
  const { managedFields, ...others } = metadata;
  const object = decode({ metadata: others, ...fields }, served);
  const draft: Draft = { ...object, metadata: mapAt(object, 'metadata') };
  if (managedFields !== undefined) draft.metadata['managedFields'] = managedFields;
  strategy.setDefaults(draft);
  return draft;
}

function decode(fields: MutableJsonMap, served: ServedResource): MutableJsonMap {
  const { custom } = served;
  return custom === undefined
    ? toWireForm(apiVersionOf(served), served.kind, fields).object
    : toCustomForm(custom.schema, fields).object;
}
