import { counter, gauge, histogram } from '../ports/meter.ts';

const labels = ['resource'] as const;
const listenerLabels = ['resource', 'listener'] as const;

export const reflectorLists = counter(
  'reflector_lists_total',
  'Number of complete states read from the API server, by a watch with initial events or by a paged list.',
  labels,
);

const seconds = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 600];

export const reflectorListDuration = histogram(
  'reflector_list_duration_seconds',
  'Time in seconds to read one complete state; failed attempts are not counted.',
  seconds,
  labels,
);

export const reflectorListItems = histogram(
  'reflector_items_per_list',
  'Number of objects in one complete state.',
  [0, 10, 100, 1_000, 5_000, 10_000, 50_000, 150_000],
  labels,
);

export const reflectorShortWatches = counter(
  'reflector_short_watches_total',
  'Number of watches that ended within a second without events.',
  labels,
);

export const reflectorWatchDuration = histogram(
  'reflector_watch_duration_seconds',
  'Time in seconds from the request of a watch to its end.',
  seconds,
  labels,
);

export const reflectorLastVersion = gauge(
  'reflector_last_resource_version',
  'Resource version of the informer store.',
  labels,
);

export const reflectorWatches = counter('reflector_watches_total', 'Number of watches opened.', labels);

export const reflectorWatchErrors = counter(
  'reflector_watch_errors_total',
  'Number of watches that were rejected or ended otherwise than by the server at their timeout, by reason.',
  ['resource', 'reason'],
);

export const reflectorRelists = counter('reflector_relists_total', 'Number of relists, by cause.', [
  'resource',
  'cause',
]);

export const staleEvents = counter(
  'reflector_stale_events_total',
  'Number of watch events ignored because a newer state was known.',
  labels,
);

export const malformedObjects = counter(
  'informer_malformed_objects_total',
  'Number of problems with received objects: field (treated as absent), name, object, event (skipped). Each problem of each object is counted once in 30 minutes.',
  ['resource', 'problem'],
);

export const storeObjects = gauge('informer_store_objects', 'Number of objects in the informer store.', labels);

export const streamStaleness = gauge(
  'informer_stream_staleness_seconds',
  'Time in seconds since the last object, bookmark or list page of the stream, on the monotonic clock; before the first, since the start of the informer. A healthy stream of an idle resource receives a bookmark every minute.',
  labels,
);

export const listenerErrors = counter(
  'informer_listener_errors_total',
  'Number of changes that an event handler failed to process.',
  listenerLabels,
);

export const listenerSeconds = counter(
  'informer_listener_seconds_total',
  'Time in seconds spent in event handlers, which block the event loop.',
  listenerLabels,
);
