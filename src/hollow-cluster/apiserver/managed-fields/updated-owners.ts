/** Ownership after a create, an update or a patch. */
import { getOrInsert } from '../../../machinery/api/get-or-insert.ts';
import { FieldSet } from './field-set.ts';
import { keepsOwners, untrackedFields } from './kept-owners.ts';
import type { ManagerEntry } from './manager-entry.ts';
import { type Change, Comparisons, trackChanges, withFields } from './track-changes.ts';

/** Who writes, through which endpoint, and when. */
export interface Writer {
  readonly manager: string;
  readonly subresource: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

/** Upstream `DefaultMaxUpdateManagers`. */
const updateManagersMax = 10;
const ancientManager = 'ancient-changes';

/** The writer owns what it changed, in addition to what it owned; others lose it. Not sorted. */
export function decideUpdate(
  change: Change,
  managers: readonly ManagerEntry[],
  writer: Writer,
): readonly ManagerEntry[] {
  const own = managers.find((entry) => isWriter(entry, change, writer));
  const others = own === undefined ? managers : managers.filter((other) => other !== own);
  const kept = own === undefined ? undefined : keepOwners(change, own, others, writer);
  return capManagers(kept ?? moveOwners(change, { own, others }, writer));
}

function isWriter(entry: ManagerEntry, { version }: Change, { manager, subresource }: Writer): boolean {
  const { operation, apiVersion } = entry;
  if (entry.manager !== manager || entry.subresource !== subresource) return false;
  return operation === 'Update' && apiVersion === version.apiVersion;
}

/** Undefined if fields change their owners. */
function keepOwners(
  change: Change,
  own: ManagerEntry,
  others: readonly ManagerEntry[],
  { now }: Writer,
): readonly ManagerEntry[] | undefined {
  // Without fields, or in another version, an entry may have to go.
  if ([own, ...others].some(({ apiVersion, fields }) => apiVersion !== own.apiVersion || fields.isEmpty))
    return undefined;
  const keeps = keepsOwners(
    change,
    own.fields,
    others.map(({ fields }) => fields),
  );
  if (keeps === 'no') return undefined;
  return [...others, keeps === 'yes' ? { ...own, time: now } : own];
}

function moveOwners(
  change: Change,
  { own, others }: { readonly own: ManagerEntry | undefined; readonly others: readonly ManagerEntry[] },
  writer: Writer,
): readonly ManagerEntry[] {
  const comparisons = new Comparisons(change);
  const { changed, removed } = comparisons.own;
  const fields = changed.difference(untrackedFields);
  const entry = entryOf(change, writer, fields);
  const { managers: kept } = trackChanges(comparisons, others);
  if (own === undefined) return fields.isEmpty ? kept : [...kept, entry];
  // It loses what it changed and may not own. Usually nothing is left of that, and it owns what it changed already.
  const left = own.fields.difference(changed.difference(fields)).difference(removed);
  const updated = withFields(fields.isEmpty ? own : entry, left.union(fields));
  return updated === undefined ? kept : [...kept, updated];
}

function entryOf({ version }: Change, { manager, subresource, now }: Writer, fields: FieldSet): ManagerEntry {
  const { apiVersion } = version;
  return { manager, operation: 'Update', apiVersion, subresource, time: now, fields };
}

/** Merges the oldest updaters of a version until ten are left (upstream `capManagersManager`). */
function capManagers(managers: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update');
  if (updaters.length <= updateManagersMax) return managers;
  const oldest = [...updaters].sort(compareAges);
  const merged = new Map<string, ManagerEntry[]>();
  let count = updaters.length;
  for (const entry of oldest) {
    if (count <= updateManagersMax) break;
    const group = getOrInsert(merged, entry.apiVersion, () => []);
    if (group.push(entry) > 1) count -= 1;
  }
  const groups = [...merged.values()].filter((group) => group.length > 1);
  const gone = new Set(groups.flat());
  return [...managers.filter((entry) => !gone.has(entry)), ...groups.map(mergeEntries)];
}

/** Order by time, then by identity: its text in upstream begins with the manager. */
function compareAges(a: ManagerEntry, b: ManagerEntry): number {
  const [left, right] = [a, b].map(({ time = '', manager, apiVersion, subresource }) =>
    JSON.stringify([time, manager, apiVersion, subresource]),
  );
  if (left === right) return 0;
  return (left ?? '') < (right ?? '') ? -1 : 1;
}

/** The time is that of the newest of them. */
function mergeEntries(group: readonly ManagerEntry[]): ManagerEntry {
  const [first] = group;
  const fields = unionOf(group.map((entry) => entry.fields));
  return {
    manager: ancientManager,
    operation: 'Update',
    apiVersion: first?.apiVersion ?? '',
    subresource: '',
    time: group.at(-1)?.time,
    fields,
  };
}

/** Sets of about equal size are united, level by level: a set that grows would be copied for each of them. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? FieldSet.empty;
  const half = sets.length >>> 1;
  return unionOf(sets.slice(0, half)).union(unionOf(sets.slice(half)));
}
