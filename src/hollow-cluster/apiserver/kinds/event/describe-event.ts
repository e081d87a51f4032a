import type { JsonMap } from '../../../../machinery/api/json-map.ts';
import { mapAt, numberAt, textAt, valueAt, isMap } from '../../../../machinery/api/select-field.ts';
import { ageSince } from '../../printing/describe-age.ts';
import { column, countColumn, nameColumn, type PrintedColumn, wideColumn } from '../../printing/describe-columns.ts';

/** Events of both groups; `events.k8s.io/v1` has other field names (upstream `printEvent`). */
export const eventColumns: readonly PrintedColumn[] = [
  column('Last Seen', 'Time since the last occurrence.', (event, nowMs) => ageSince(lastTimeOf(event), nowMs)),
  column('Type', 'Normal or Warning.', (event) => textAt(event, 'type')),
  column('Reason', 'Machine-readable reason, in CamelCase.', (event) => textAt(event, 'reason')),
  column('Object', 'Object of the event.', (event) => {
    const object = objectOf(event);
    return [textAt(object, 'kind').toLowerCase(), textAt(object, 'name')].filter((part) => part !== '').join('/');
  }),
  wideColumn('Subobject', 'Referenced part of the object.', (event) => textAt(objectOf(event), 'fieldPath')),
  wideColumn('Source', 'Reporting component and its host.', describeSource),
  column('Message', 'Human-readable description.', (event) => eitherText(event, 'message', 'note').trim()),
  wideColumn('First Seen', 'Time since the first occurrence.', (event, nowMs) => ageSince(firstTimeOf(event), nowMs)),
  { ...countColumn('Count', 'Number of occurrences.', countOf), type: 'string', priority: 1 },
  { ...nameColumn, priority: 1 },
];

function objectOf(event: JsonMap): JsonMap {
  return mapAt(event, isMap(event['regarding']) ? 'regarding' : 'involvedObject');
}

/** core/v1 Events have two timestamps and a count, events.k8s.io/v1 ones a time and, if repeated, a series. */
function firstTimeOf(event: JsonMap): string {
  return eitherText(event, 'firstTimestamp', 'deprecatedFirstTimestamp') || textAt(event, 'eventTime');
}

function lastTimeOf(event: JsonMap): string {
  const series = valueAt(event, 'series');
  if (isMap(series)) return textAt(series, 'lastObservedTime');
  return eitherText(event, 'lastTimestamp', 'deprecatedLastTimestamp') || firstTimeOf(event);
}

function countOf(event: JsonMap): number {
  const series = valueAt(event, 'series');
  if (isMap(series)) return numberAt(series, 'count');
  return numberAt(event, 'count') || numberAt(event, 'deprecatedCount') || 1;
}

function describeSource(event: JsonMap): string {
  const source = mapAt(event, isMap(event['deprecatedSource']) ? 'deprecatedSource' : 'source');
  const component = textAt(source, 'component') || eitherText(event, 'reportingComponent', 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

function eitherText(event: JsonMap, core: string, grouped: string): string {
  return textAt(event, core) || textAt(event, grouped);
}
