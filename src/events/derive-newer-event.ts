import type { EventDraft, NewerEvent } from '../api/event.ts';
import type { ObjectReference } from '../api/meta.ts';
import { formatMicroTime } from '../api/timestamps.ts';
import { deriveCutText } from './derive-cut-text.ts';
import { describeFlaw, type EventSource } from './derive-event.ts';
import { deriveEventNamespace, deriveReference } from './derive-reference.ts';

/** Bytes that events.k8s.io/v1 takes (`NoteLengthLimit` and its siblings); what is longer would be refused. */
export const noteBytesMax = 1_024;
export const actionBytesMax = 128;
export const reasonBytesMax = 128;
export const reportingInstanceBytesMax = 128;

/** As {@link describeFlaw}; events.k8s.io/v1 wants a reason besides. */
export function describeNewerFlaw(draft: EventDraft): string | undefined {
  return describeFlaw(draft) ?? (draft.reason === '' ? 'it gives no reason' : undefined);
}

/**
 * An events.k8s.io/v1 Event, told for the first time at `nowMs` of wall time (client-go `tools/events`
 * `recorderImpl.makeEvent`). Texts that are too long are cut, so that the API server takes them.
 */
export function deriveNewerEvent(draft: EventDraft, source: EventSource, name: string, nowMs: number): NewerEvent {
  const { about, reason, message, type, annotations, related } = draft;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: deriveEventNamespace(about), ...(annotations === undefined ? {} : { annotations }) },
    eventTime: formatMicroTime(nowMs),
    reportingController: source.component,
    reportingInstance: deriveReportingInstance(source),
    action: deriveCutText(draft.action || reason, actionBytesMax),
    reason: deriveCutText(reason, reasonBytesMax),
    regarding: deriveReference(about),
    ...(isReference(related) ? { related: deriveReference(related) } : {}),
    note: deriveCutText(message, noteBytesMax),
    type,
  };
}

/** `CONTROLLER-HOST`; upstream's host is that of the process, ours is the source's. */
function deriveReportingInstance({ component, host }: EventSource): string {
  return deriveCutText(host === undefined ? component : `${component}-${host}`, reportingInstanceBytesMax);
}

/** An event is told without a related object that nobody can name (`recorderImpl.eventf`). */
function isReference(related: ObjectReference | undefined): related is ObjectReference {
  return related !== undefined && related.kind !== '' && related.name !== '';
}
