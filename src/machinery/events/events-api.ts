import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import { EventBroadcaster } from './event-broadcaster.ts';
import { SeriesBroadcaster } from './series-broadcaster.ts';

/** The API in which events are written: core/v1 or events.k8s.io/v1. */
export const eventsApis = ['core', 'events.k8s.io'] as const;
export type EventsApi = (typeof eventsApis)[number];

/** Default API: that of kube-controller-manager's node controllers and of kubelets. */
export const eventsApiDefault: EventsApi = 'core';

/** A broadcaster that writes to this API. */
export function makeBroadcaster(api: EventsApi, options: BroadcasterOptions): Broadcaster {
  return api === 'core' ? new EventBroadcaster(options) : new SeriesBroadcaster(options);
}
