import type { Event, EventDraft } from '../api/event.ts';
import { formatTime } from '../api/timestamps.ts';
import { buildReference, selectEventNamespace } from './build-reference.ts';

/** The reporting component, and the host that it reports about, if any. */
export interface EventSource {
  readonly component: string;
  readonly host: string | undefined;
}

/** Why no event can be made of a draft; undefined when it is valid. */
export function describeProblem({ about, type }: EventDraft): string | undefined {
  if (type !== 'Normal' && type !== 'Warning') return 'type: must be Normal or Warning';
  if (about.kind === '' || about.name === '') return 'involvedObject: kind and name must not be empty';
  return undefined;
}

/**
 * A core/v1 Event, recorded for the first time at `nowMs` of wall time (client-go `recorderImpl.makeEvent`). It carries
 * neither the action nor the related object (`EventRecorderAdapter.Eventf`).
 */
export function buildEvent(draft: EventDraft, source: EventSource, name: string, nowMs: number): Event {
  const { about, reason, message, type, annotations } = draft;
  const now = formatTime(nowMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: selectEventNamespace(about), ...(annotations === undefined ? {} : { annotations }) },
    involvedObject: buildReference(about),
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
