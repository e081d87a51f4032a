/**
 * Moves ownership after a write (upstream `structured-merge-diff/merge/update.go`, `Updater.update`): other managers lose
 * the fields that changed or were removed.
 */
import type { JsonMap } from '../../api/json-map.ts';
import { compareObjects, type Comparison, excludeFields } from './compare-values.ts';
import type { FieldSet } from './field-set.ts';
import type { ManagerEntry } from './manager-entry.ts';
import type { Version, Versions } from './object-versions.ts';
import type { PathElement } from './path-element.ts';

/** An object before and after a write, in the version of the request. */
export interface Change {
  readonly before: JsonMap;
  readonly after: JsonMap;
  readonly version: Version;
  readonly versions: Versions;
}

export interface Conflict {
  readonly manager: ManagerEntry;
  readonly path: readonly PathElement[];
}

interface Tracked {
  /** Without those that own nothing any more, or whose version is not served. */
  readonly managers: readonly ManagerEntry[];
  /** Changed fields that belonged to others. */
  readonly conflicts: readonly Conflict[];
  /** Differences in the version of the request. */
  readonly comparison: Comparison;
}

/** `others` are all managers but the one that writes. */
export function trackChanges(change: Change, others: readonly ManagerEntry[]): Tracked {
  const comparisons = new Comparisons(change);
  const comparison = comparisons.in(change.version);
  const conflicts: Conflict[] = [];
  const managers = others.flatMap((entry) => {
    const version = change.versions.find(entry.apiVersion);
    if (version === undefined) return [];
    const { added, modified, removed } = comparisons.in(version);
    const lost = entry.fields.intersection(modified.union(added));
    if (!lost.isEmpty) for (const path of lost.paths()) conflicts.push({ manager: entry, path });
    return withFields(entry, entry.fields.difference(lost).difference(removed));
  });
  return { managers, conflicts, comparison };
}

/** Computes the comparison in each version once. */
class Comparisons {
  readonly #change: Change;
  readonly #known = new Map<string, Comparison>();

  constructor(change: Change) {
    this.#change = change;
  }

  in({ apiVersion, type, reset }: Version): Comparison {
    const known = this.#known.get(apiVersion);
    if (known !== undefined) return known;
    const { before, after, version, versions } = this.#change;
    const convert = (object: JsonMap): JsonMap => versions.convert(object, version.apiVersion, apiVersion);
    const found = excludeFields(compareObjects(type, convert(before), convert(after)), reset);
    this.#known.set(apiVersion, found);
    return found;
  }
}

/** Empty if it owns nothing. */
export function withFields(entry: ManagerEntry, fields: FieldSet): readonly ManagerEntry[] {
  if (fields === entry.fields) return fields.isEmpty ? [] : [entry];
  return fields.isEmpty ? [] : [{ ...entry, fields }];
}
