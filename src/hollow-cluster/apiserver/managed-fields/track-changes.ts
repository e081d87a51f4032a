/**
 * Moves ownership after a write (upstream `structured-merge-diff/merge/update.go`, `Updater.update`): other managers lose
 * the fields that changed or were removed.
 */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { compareObjects, type Comparison } from './compare-values.ts';
import type { FieldSet } from './field-set.ts';
import type { ManagerEntry } from './manager-entry.ts';
import type { Version, Versions } from './value-type.ts';

/** An object before and after a write, in the version of the request. */
export interface Change {
  readonly before: JsonMap;
  readonly after: JsonMap;
  readonly version: Version;
  readonly versions: Versions;
}

/** Fields of one manager. */
export interface Loss {
  readonly manager: ManagerEntry;
  readonly fields: FieldSet;
}

interface Tracked {
  /** Managers, without those that own nothing any more, or whose version is not served. */
  readonly managers: readonly ManagerEntry[];
  /** Changed fields that belonged to them. */
  readonly losses: readonly Loss[];
}

/** `others` are all managers but the one that writes. */
export function trackChanges(comparisons: Comparisons, others: readonly ManagerEntry[]): Tracked {
  const losses: Loss[] = [];
  const managers: ManagerEntry[] = [];
  for (const entry of others) {
    const found = comparisons.find(entry.apiVersion);
    if (found === undefined) continue;
    const lost = entry.fields.intersection(found.changed);
    if (!lost.isEmpty) losses.push({ manager: entry, fields: lost });
    const kept = withFields(entry, entry.fields.difference(lost).difference(found.removed));
    if (kept !== undefined) managers.push(kept);
  }
  return { managers, losses };
}

/** Compares the object before and after a write, in each version once. */
export class Comparisons {
  /** Changes in the version of the request. */
  readonly own: Comparison;
  readonly #change: Change;
  readonly #others = new Map<string, Comparison>();

  constructor(change: Change) {
    this.#change = change;
    this.own = this.#compare(change.version);
  }

  /** Undefined if the version is not served. */
  find(apiVersion: string): Comparison | undefined {
    if (apiVersion === this.#change.version.apiVersion) return this.own;
    const version = this.#change.versions.find(apiVersion);
    return version === undefined ? undefined : getOrInsert(this.#others, apiVersion, () => this.#compare(version));
  }

  #compare({ apiVersion, type, reset }: Version): Comparison {
    const { before, after, version, versions } = this.#change;
    const convert = (object: JsonMap): JsonMap => versions.convert(object, version.apiVersion, apiVersion);
    const { changed, removed } = compareObjects(type, convert(before), convert(after));
    return { changed: changed.recursiveDifference(reset), removed: removed.recursiveDifference(reset) };
  }
}

/** Undefined if it owns nothing. */
export function withFields(entry: ManagerEntry, fields: FieldSet): ManagerEntry | undefined {
  if (fields.isEmpty) return undefined;
  return fields === entry.fields ? entry : { ...entry, fields };
}
