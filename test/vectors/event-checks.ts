import type { EventDraft } from '../../src/machinery/api/event.ts';
import { byName, contains, equals, isMap, show } from './comparing.ts';
import type { Check } from './world.ts';

/** Expectations about Events. */
export function eventChecks(drafts: () => readonly EventDraft[]): Readonly<Record<string, Check>> {
  return {
    events: byName((word) => drafts().filter((draft) => isCalled(draft, word)).length),
    eventReasons: equals(() => drafts().map(({ reason }) => reason)),
    eventMessage: byName((reason) => drafts().find((draft) => isCalled(draft, reason))?.message ?? null),
    eventUID: (expected: unknown) => {
      const uids = drafts().map(({ about }) => about.uid);
      return uids.length > 0 && uids.every((uid) => uid === expected) ? undefined : show(uids);
    },
    eventList: (expected: unknown) => {
      const all = drafts();
      const wanted = expected as readonly unknown[];
      const same = all.length === wanted.length && wanted.every((one, at) => isDraft(all[at], one));
      return same ? undefined : show(all);
    },
  };
}

/** `reason`, `Kind/reason` or `reason:message`. */
function isCalled({ reason, message, about }: EventDraft, word: string): boolean {
  return word === reason || word === `${about.kind}/${reason}` || word === `${reason}:${message}`;
}

function isDraft(draft: EventDraft | undefined, expected: unknown): boolean {
  if (draft === undefined) return false;
  if (typeof expected === 'string') return isCalled(draft, expected);
  if (!isMap(expected)) return false;
  const { about, ...fields } = draft;
  const { involvedObject, object, ...wanted } = expected;
  return contains(fields, wanted) && contains(about, involvedObject ?? object ?? {});
}
