/** Events have two faces, core/v1 and events.k8s.io/v1, and one storage; stored is the core form. */
import type { Draft } from '../storage/stored-object.ts';

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

export function asCoreEvent(draft: Draft): Draft {
  return rename(draft, toCore);
}

export function asNewerEvent(draft: Draft): Draft {
  return rename(draft, toNewer);
}

function rename(draft: Draft, names: ReadonlyMap<string, string>): Draft {
  const { metadata, ...rest } = draft;
  const fields = Object.entries(rest).map(([field, value]) => [names.get(field) ?? field, value] as const);
  return { metadata, ...Object.fromEntries(fields) };
}
