import type { ListOptions, Selection, WatchOptions } from '../ports/kube-reader.ts';

type Value = string | number | boolean | undefined;

/** Parameters in alphabetical order, as client-go encodes them; undefined and empty ones are omitted. */
export function formatQuery(parameters: Readonly<Record<string, Value>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value !== undefined && value !== '') query.append(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

export function listQuery(options: ListOptions): string {
  const { limit, resourceVersion, resourceVersionMatch } = options;
  return formatQuery({
    ...selectors(options),
    limit,
    continue: options.continue,
    resourceVersion,
    resourceVersionMatch,
  });
}

export function watchQuery(options: WatchOptions): string {
  const { timeoutSeconds, resourceVersion, resourceVersionMatch, sendInitialEvents, allowWatchBookmarks } = options;
  return formatQuery({
    ...selectors(options),
    watch: true,
    resourceVersion,
    resourceVersionMatch,
    sendInitialEvents,
    allowWatchBookmarks,
    timeoutSeconds,
    // client-go sends the value twice: `timeoutSeconds` is the list option, `timeout` the timeout of the request.
    timeout: timeoutSeconds === undefined ? undefined : formatGoSeconds(timeoutSeconds),
  });
}

/** Whole seconds in Go's duration format: `9m50s`, `5m0s`, `30s`. */
export function formatGoSeconds(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}

function selectors({ labelSelector, fieldSelector }: Selection): Readonly<Record<string, Value>> {
  return { labelSelector, fieldSelector };
}
