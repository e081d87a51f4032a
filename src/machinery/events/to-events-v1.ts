import type { EventDraft, EventV1 } from '../api/event.ts';
import type { ObjectReference } from '../api/meta.ts';
import { formatMicroTime } from '../api/timestamps.ts';
import { describeProblem, type EventSource } from './build-event.ts';
import { selectEventNamespace, buildReference } from './build-reference.ts';

const encoder = new TextEncoder();

/** Maximum bytes that events.k8s.io/v1 accepts (`NoteLengthLimit` and its siblings); the API server rejects longer texts. */
const noteBytesMax = 1_024;
const actionBytesMax = 128;
const reasonBytesMax = 128;
const reportingInstanceBytesMax = 128;

/** Problem with a draft, as of {@link describeProblem}; events.k8s.io/v1 also requires a reason. */
export function describeEventV1Problem(draft: EventDraft): string | undefined {
  return describeProblem(draft) ?? (draft.reason === '' ? 'reason: must not be empty' : undefined);
}

/**
 * An events.k8s.io/v1 Event, recorded for the first time at `nowMs` of wall time (client-go `tools/events`
 * `recorderImpl.makeEvent`). Texts beyond the limits above are truncated.
 */
export function toEventsV1(draft: EventDraft, source: EventSource, name: string, nowMs: number): EventV1 {
  const { about, reason, message, type, annotations, related } = draft;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: selectEventNamespace(about), ...(annotations === undefined ? {} : { annotations }) },
    eventTime: formatMicroTime(nowMs),
    reportingController: source.component,
    reportingInstance: formatReportingInstance(source),
    action: cutText(draft.action || reason, actionBytesMax),
    reason: cutText(reason, reasonBytesMax),
    regarding: buildReference(about),
    ...(isReference(related) ? { related: buildReference(related) } : {}),
    note: cutText(message, noteBytesMax),
    type,
  };
}

/** `CONTROLLER-HOST`; client-go uses the host of the process, this uses the host of the source. */
function formatReportingInstance({ component, host }: EventSource): string {
  return cutText(host === undefined ? component : `${component}-${host}`, reportingInstanceBytesMax);
}

/** A related object without kind or name is left out of the event (`recorderImpl.eventf`). */
function isReference(related: ObjectReference | undefined): related is ObjectReference {
  return related !== undefined && related.kind !== '' && related.name !== '';
}

/** The longest prefix that fits into `bytesMax` bytes of UTF-8. No character is split. */
export function cutText(text: string, bytesMax: number): string {
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (text.length * 3 <= bytesMax) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}
