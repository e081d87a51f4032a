import type { Event, EventDraft } from '../api/event.ts';
import { formatTime } from '../api/timestamps.ts';
import { deriveEventNamespace, deriveReference } from './derive-reference.ts';

/** Who tells: a component, and the machine it tells of, where there is one. */
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

/**
 * A core/v1 Event, told for the first time at `nowMs` of wall time (client-go `recorderImpl.makeEvent`). It tells neither
 * the action nor the related object (`EventRecorderAdapter.Eventf`).
 */
export function deriveEvent(draft: EventDraft, source: EventSource, name: string, nowMs: number): Event {
  const { about, reason, message, type, annotations } = draft;
  const now = formatTime(nowMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: deriveEventNamespace(about), ...(annotations === undefined ? {} : { annotations }) },
    involvedObject: deriveReference(about),
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
