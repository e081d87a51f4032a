import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import { EventBroadcaster } from './event-broadcaster.ts';
import { SeriesBroadcaster } from './series-broadcaster.ts';

/** In which of its two forms an event is told: core/v1, or events.k8s.io/v1. */
export const eventsApis = ['core', 'events.k8s.io'] as const;
export type EventsApi = (typeof eventsApis)[number];

/** The one whose rules the reference's node controllers and kubelets keep. */
export const eventsApiDefault: EventsApi = 'core';

/** A broadcaster that tells in this API. */
export function makeBroadcaster(api: EventsApi, options: BroadcasterOptions): Broadcaster {
  return api === 'core' ? new EventBroadcaster(options) : new SeriesBroadcaster(options);
}
