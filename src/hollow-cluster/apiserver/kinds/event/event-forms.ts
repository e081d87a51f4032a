/** Converts events between core/v1 and events.k8s.io/v1; core/v1 is the stored form. */
import { isAbsent, ownValue, setOwn } from '../../../../machinery/api/json-map.ts';
import type { Draft } from '../../storage/stored-object.ts';

/** Fields whose name differs, events.k8s.io/v1 first. */
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
const toEventV1Field = new Map(renamed.map(([v1, core]) => [core, v1] as const));

/** events.k8s.io/v1 names of the fields that core/v1 always writes and events.k8s.io/v1 omits when empty. */
const omittedWhenEmpty = ['reportingController', 'reportingInstance'] as const;

export function asCoreEvent(draft: Draft): Draft {
  const core = rename(draft, toCore);
  for (const field of omittedWhenEmpty) {
    const name = toCore.get(field) ?? field;
    if (isAbsent(ownValue(core, name))) setOwn(core, name, '');
  }
  return core;
}

export function asEventV1(draft: Draft): Draft {
  const v1 = rename(draft, toEventV1Field);
  for (const field of omittedWhenEmpty) if (v1[field] === '') delete v1[field];
  return v1;
}

function rename(draft: Draft, names: ReadonlyMap<string, string>): Draft {
  const { metadata, ...rest } = draft;
  const fields = Object.entries(rest).map(([field, value]) => [names.get(field) ?? field, value] as const);
  return { metadata, ...Object.fromEntries(fields) };
}
