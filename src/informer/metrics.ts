import type { MetricDefinition } from '../ports/meter.ts';

const labels = ['resource'] as const;
const ofListener = ['resource', 'listener'] as const;

export const reflectorLists: MetricDefinition = {
  name: 'reflector_lists_total',
  kind: 'counter',
  help: 'Complete states read from the API server, by a watch with initial events or by a paged list.',
  stability: 'ALPHA',
  labels,
};

const seconds = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 600];

export const reflectorListDuration: MetricDefinition = {
  name: 'reflector_list_duration_seconds',
  kind: 'histogram',
  help: 'Time it took to read one complete state, in seconds; attempts that failed are not counted.',
  stability: 'ALPHA',
  labels,
  buckets: seconds,
};

export const reflectorListItems: MetricDefinition = {
  name: 'reflector_items_per_list',
  kind: 'histogram',
  help: 'Objects in one complete state.',
  stability: 'ALPHA',
  labels,
  buckets: [0, 10, 100, 1_000, 5_000, 10_000, 50_000, 150_000],
};

export const reflectorShortWatches: MetricDefinition = {
  name: 'reflector_short_watches_total',
  kind: 'counter',
  help: 'Watches that ended within a second and brought nothing.',
  stability: 'ALPHA',
  labels,
};

export const reflectorWatchDuration: MetricDefinition = {
  name: 'reflector_watch_duration_seconds',
  kind: 'histogram',
  help: 'Time a watch lasted, from being asked for to its end, in seconds.',
  stability: 'ALPHA',
  labels,
  buckets: seconds,
};

export const reflectorLastVersion: MetricDefinition = {
  name: 'reflector_last_resource_version',
  kind: 'gauge',
  help: 'The resource version that the local copy has reached.',
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

export const streamStaleness: MetricDefinition = {
  name: 'informer_stream_staleness_seconds',
  kind: 'gauge',
  help: 'Time since the stream last brought anything, be it an object, a bookmark or a page of a list, in seconds by our monotonic clock; before the first, since the informer began. A healthy stream of a quiet resource gets a bookmark a minute.',
  stability: 'ALPHA',
  labels,
};

export const listenerErrors: MetricDefinition = {
  name: 'informer_listener_errors_total',
  kind: 'counter',
  help: 'Changes at which a listener threw.',
  stability: 'ALPHA',
  labels: ofListener,
};

export const listenerSeconds: MetricDefinition = {
  name: 'informer_listener_seconds_total',
  kind: 'counter',
  help: 'Time spent in listeners, in seconds. Everything else waits meanwhile.',
  stability: 'ALPHA',
  labels: ofListener,
};

/** Every metric of the informers, for the registry and the documents. */
export const informerMetrics: readonly MetricDefinition[] = [
  reflectorLists,
  reflectorListDuration,
  reflectorListItems,
  reflectorWatches,
  reflectorShortWatches,
  reflectorWatchDuration,
  reflectorLastVersion,
  reflectorWatchErrors,
  reflectorRelists,
  staleEvents,
  malformedObjects,
  storeObjects,
  streamStaleness,
  listenerErrors,
  listenerSeconds,
];
