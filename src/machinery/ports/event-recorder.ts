import type { EventDraft } from '../api/event.ts';

/** Records Kubernetes Events. Never throws, never blocks: recording must not delay the controller. */
export interface EventRecorder {
  record(draft: EventDraft): void;
}
