/** The object and ownership after an apply (upstream `structured-merge-diff/merge/update.go`, `Updater.Apply`). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';
import { collectFields } from './collect-fields.ts';
import type { Writer } from './updated-owners.ts';
import { FieldSet } from './field-set.ts';
import { isSameManager, type ManagerEntry } from './manager-entry.ts';
import { mergeObjects } from './merged-values.ts';
import type { Version, Versions } from './value-type.ts';
import type { PathElement } from './path-element.ts';
import { removeFields, withDeclaredParents } from './remove-fields.ts';
import { Comparisons, type Loss, trackChanges, withFields } from './track-changes.ts';
import { untrackedFields } from './kept-owners.ts';

/** A field that another manager has with another value. */
export interface Conflict {
  readonly manager: ManagerEntry;
  readonly path: readonly PathElement[];
}

/** An apply, in the version of the request. */
interface ApplyInput {
  readonly live: JsonMap;
  readonly applied: JsonMap;
  readonly version: Version;
  readonly versions: Versions;
}

interface Applied {
  readonly object: JsonMap;
  /** Not sorted. */
  readonly managers: readonly ManagerEntry[];
  /** Fields that other managers have with other values: the apply must not take place unless it is forced. */
  readonly conflicts: readonly Conflict[];
}

/** Whether or not there are conflicts, the result is that of a forced apply. */
export function decideApply(input: ApplyInput, managers: readonly ManagerEntry[], writer: Writer): Applied {
  const { live, applied, version, versions } = input;
  const fields = collectFields(version.type, applied).recursiveDifference(version.reset);
  const entry: ManagerEntry = {
    manager: writer.manager,
    operation: 'Apply',
    apiVersion: version.apiVersion,
    subresource: writer.subresource,
    time: writer.now,
    fields,
  };
  const last = managers.find((other) => isSameManager(other, entry));
  const others = managers.filter((other) => other !== last);
  const merged = mergeObjects(version.type, live, applied);
  const object = prune(input, merged, { last, next: entry, others });
  const comparisons = new Comparisons({ before: live, after: object, version, versions });
  const { managers: kept, losses } = trackChanges(comparisons, others);
  const time = sameJson(live, object) ? last?.time : writer.now;
  const own = withFields({ ...entry, time }, fields.difference(untrackedFields));
  return { object, managers: own === undefined ? kept : [...kept, own], conflicts: losses.flatMap(conflictsOf) };
}

function conflictsOf({ manager, fields }: Loss): readonly Conflict[] {
  return [...fields.paths()].map((path) => ({ manager, path }));
}

interface Owners {
  readonly last: ManagerEntry | undefined;
  readonly next: ManagerEntry;
  readonly others: readonly ManagerEntry[];
}

/** Removes what the manager applied last time, does not apply now, and no other manager owns. */
function prune({ version, versions }: ApplyInput, merged: JsonMap, owners: Owners): JsonMap {
  const { last, next, others } = owners;
  const lastVersion = last === undefined ? undefined : versions.find(last.apiVersion);
  if (last === undefined || lastVersion === undefined || last.fields.isEmpty) return merged;
  const { type, apiVersion } = lastVersion;
  const object = versions.convert(merged, version.apiVersion, apiVersion);
  const applied = withDeclaredParents(type, last.fields);
  const pruned = removeFields(type, object, applied);
  const restored = restoreOwned(lastVersion, versions, { object, pruned }, [...others, next]);
  const all = withDeclaredParents(type, collectFields(type, object));
  const kept = withDeclaredParents(type, collectFields(type, restored));
  const removed = all.difference(kept).intersection(applied);
  return versions.convert(removeFields(type, object, removed), apiVersion, version.apiVersion);
}

interface Pruning {
  readonly object: JsonMap;
  readonly pruned: JsonMap;
}

/** What was pruned, but belongs to a manager, is added again: first in the version that was pruned, then in the others. */
function restoreOwned(
  version: Version,
  versions: Versions,
  { object, pruned }: Pruning,
  owners: readonly ManagerEntry[],
): JsonMap {
  const owned = new Map<string, FieldSet>([[version.apiVersion, FieldSet.empty]]);
  for (const { apiVersion, fields } of owners) {
    owned.set(apiVersion, (owned.get(apiVersion) ?? FieldSet.empty).union(fields));
  }
  let result = pruned;
  for (const [apiVersion, fields] of owned) {
    const other = versions.find(apiVersion);
    if (other === undefined) continue;
    const from = (value: JsonMap): JsonMap => versions.convert(value, version.apiVersion, apiVersion);
    const back = restore(other, { object: from(object), pruned: from(result) }, fields);
    result = versions.convert(back, apiVersion, version.apiVersion);
  }
  return result;
}

function restore({ type }: Version, { object, pruned }: Pruning, owned: FieldSet): JsonMap {
  const all = withDeclaredParents(type, collectFields(type, object));
  const kept = withDeclaredParents(type, collectFields(type, pruned)).union(withDeclaredParents(type, owned));
  return removeFields(type, object, all.difference(kept));
}
