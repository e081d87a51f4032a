import type { MetricDefinition } from '../ports/meter.ts';

const labels = ['resource'] as const;

export const reflectorLists: MetricDefinition = {
  name: 'reflector_lists_total',
  kind: 'counter',
  help: 'Complete states read from the API server, by a watch with initial events or by a paged list.',
  stability: 'ALPHA',
  labels,
};

export const reflectorWatches: MetricDefinition = {
  name: 'reflector_watches_total',
  kind: 'counter',
  help: 'Watches opened.',
  stability: 'ALPHA',
  labels,
};

export const reflectorWatchErrors: MetricDefinition = {
  name: 'reflector_watch_errors_total',
  kind: 'counter',
  help: 'Watches that were refused or ended otherwise than by the server closing them in time, by reason.',
  stability: 'ALPHA',
  labels: ['resource', 'reason'],
};

export const reflectorRelists: MetricDefinition = {
  name: 'reflector_relists_total',
  kind: 'counter',
  help: 'Complete states that had to be read again, by cause.',
  stability: 'ALPHA',
  labels: ['resource', 'cause'],
};

export const staleEvents: MetricDefinition = {
  name: 'reflector_stale_events_total',
  kind: 'counter',
  help: 'Watch events that were ignored because a newer state was known.',
  stability: 'ALPHA',
  labels,
};

export const malformedObjects: MetricDefinition = {
  name: 'informer_malformed_objects_total',
  kind: 'counter',
  help: 'Objects that arrived malformed, each counted once for as long as it stays so; the log names them.',
  stability: 'ALPHA',
  labels,
};

export const storeObjects: MetricDefinition = {
  name: 'informer_store_objects',
  kind: 'gauge',
  help: 'Objects in the local copy.',
  stability: 'ALPHA',
  labels,
};

export const listenerErrors: MetricDefinition = {
  name: 'informer_listener_errors_total',
  kind: 'counter',
  help: 'Changes at which a listener threw.',
  stability: 'ALPHA',
  labels,
};

/** Every metric of the informers, for the registry and the documents. */
export const informerMetrics: readonly MetricDefinition[] = [
  reflectorLists,
  reflectorWatches,
  reflectorWatchErrors,
  reflectorRelists,
  staleEvents,
  malformedObjects,
  storeObjects,
  listenerErrors,
];
