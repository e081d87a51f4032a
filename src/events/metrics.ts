import type { MetricDefinition } from '../ports/meter.ts';

/**
 * Why an event was not told. `invalid`: no event can be made of it. `queue-full`: more was recorded than could be
 * written. `spam`: its object has used up its share; a later repeat still counts it. `rejected`: the API server said no.
 * `unreachable`: every try failed on the way. `stopped`: recorded after the end, or not written by then.
 */
export type DropReason = 'invalid' | 'queue-full' | 'spam' | 'rejected' | 'unreachable' | 'stopped';

export const eventsDroppedTotal: MetricDefinition = {
  name: 'node_lifecycle_events_dropped_total',
  kind: 'counter',
  help: 'Events for people that were recorded and not written to the API server, by why.',
  stability: 'ALPHA',
  labels: ['reason'],
};
