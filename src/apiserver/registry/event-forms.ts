/** Events have two faces, core/v1 and events.k8s.io/v1, and one storage; stored is the core form. */
import type { Draft } from '../storage/stored-object.ts';

/** The group of the newer form. */
export const newerEventGroup = 'events.k8s.io';

/** Fields whose name differs, newer form first. */
const renamed: readonly (readonly [string, string])[] = [
  ['note', 'message'],
  ['regarding', 'involvedObject'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

const toCore = new Map(renamed);
const toNewer = new Map(renamed.map(([newer, core]) => [core, newer] as const));

/** What the core form always writes and the newer one only when there is something, by its name there. */
const omittedWhenEmpty = ['reportingController', 'reportingInstance'] as const;

export function asCoreEvent(draft: Draft): Draft {
  const core = rename(draft, toCore);
  for (const field of omittedWhenEmpty) core[toCore.get(field) ?? field] ??= '';
  return core;
}

export function asNewerEvent(draft: Draft): Draft {
  const newer = rename(draft, toNewer);
  for (const field of omittedWhenEmpty) if (newer[field] === '') delete newer[field];
  return newer;
}

function rename(draft: Draft, names: ReadonlyMap<string, string>): Draft {
  const { metadata, ...rest } = draft;
  const fields = Object.entries(rest).map(([field, value]) => [names.get(field) ?? field, value] as const);
  return { metadata, ...Object.fromEntries(fields) };
}
