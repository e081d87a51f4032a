import type { EventDraft } from '../api/event.ts';

/** Tells people, as Kubernetes Events. Never throws, never blocks: telling is never worth a late decision. */
export interface EventRecorder {
  record(draft: EventDraft): void;
}
