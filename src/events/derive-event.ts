import type { Event, EventDraft } from '../api/event.ts';
import type { ObjectReference } from '../api/meta.ts';
import { formatTime } from '../api/timestamps.ts';

/** Where events about objects without a namespace live. */
export const clusterEventNamespace = 'default';

export interface EventSource {
  readonly component: string;
  readonly host: string | undefined;
}

/** What is wrong with a draft, or undefined if an event can be made of it. */
export function describeFlaw({ about, type }: EventDraft): string | undefined {
  if (type !== 'Normal' && type !== 'Warning') return 'its type is neither Normal nor Warning';
  if (about.kind === '' || about.name === '') return 'it is about no object';
  return undefined;
}

/** A core/v1 Event, told for the first time at `nowMs` of wall time (client-go `recorderImpl.makeEvent`). */
export function deriveEvent(draft: EventDraft, source: EventSource, name: string, nowMs: number): Event {
  const { about, reason, message, type } = draft;
  const namespace = about.namespace === undefined || about.namespace === '' ? clusterEventNamespace : about.namespace;
  const now = formatTime(nowMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: referenceTo(about),
    reason,
    message,
    source: { component: source.component, ...(source.host === undefined ? {} : { host: source.host }) },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    type,
    eventTime: null,
    reportingComponent: source.component,
    reportingInstance: source.host ?? '',
  };
}

/** Only what names the object, and nothing that is empty: a version would make every event another one. */
function referenceTo({ kind, namespace, name, uid, apiVersion, fieldPath }: ObjectReference): ObjectReference {
  return {
    kind,
    ...(namespace ? { namespace } : {}),
    name,
    ...(uid ? { uid } : {}),
    ...(apiVersion ? { apiVersion } : {}),
    ...(fieldPath ? { fieldPath } : {}),
  };
}
