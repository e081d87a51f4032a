import { counter } from '../ports/meter.ts';

/**
 * Why an event was not delivered. `invalid`: the draft is not a valid event. `queue-full`: more events were recorded than
 * could be written. `spam`: the rate limit of its object is exceeded; a later repeat still counts it. `rejected`: the API
 * server rejected it. `unreachable`: every try failed in transport. `stopped`: recorded after shutdown or pending at shutdown.
 */
export type DropReason = 'invalid' | 'queue-full' | 'spam' | 'rejected' | 'unreachable' | 'stopped';

export const eventsDroppedTotal = counter(
  'node_lifecycle_events_dropped_total',
  'Number of Events that were recorded but not written to the API server, by reason.',
  ['reason'],
);
