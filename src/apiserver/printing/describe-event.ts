import type { PrintedRow, Printer } from './column.ts';
import { type Fields, fieldsAt, isFields, numberAt, textAt, valueAt } from './derive-field.ts';
import { ageSince } from './describe-age.ts';
import { column, nameColumn, wideColumn } from './describe-columns.ts';

/** Events of either group: `events.k8s.io/v1` tells the same under other names (upstream `printEvent`). */
export const eventPrinter: Printer = {
  columns: [
    column('Last Seen', 'Time since it happened last.'),
    column('Type', 'Normal or Warning.'),
    column('Reason', 'Why it was told, in one word for machines.'),
    column('Object', 'What it is about.'),
    wideColumn('Subobject', 'Which part of it.'),
    wideColumn('Source', 'Who told it, and from where.'),
    column('Message', 'What happened, for people.'),
    wideColumn('First Seen', 'Time since it happened first.'),
    wideColumn('Count', 'How often it happened.'),
    { ...nameColumn, priority: 1 },
  ],
  print: describeEvent,
};

function describeEvent(event: Fields, nowMs: number): PrintedRow {
  const about = fieldsAt(event, isFields(event['regarding']) ? 'regarding' : 'involvedObject');
  const { first, last, count } = describeTimes(event, nowMs);
  return {
    cells: [
      last,
      textAt(event, 'type'),
      textAt(event, 'reason'),
      [textAt(about, 'kind').toLowerCase(), textAt(about, 'name')].filter((part) => part !== '').join('/'),
      textAt(about, 'fieldPath'),
      describeSource(event),
      eitherText(event, 'message', 'note').trim(),
      first,
      count,
      textAt(event, 'metadata', 'name'),
    ],
  };
}

/** Old events carry two timestamps and a count, new ones a time and, when repeated, a series. */
function describeTimes(event: Fields, nowMs: number): { first: string; last: string; count: number } {
  const firstAt = eitherText(event, 'firstTimestamp', 'deprecatedFirstTimestamp') || textAt(event, 'eventTime');
  const lastAt = eitherText(event, 'lastTimestamp', 'deprecatedLastTimestamp') || firstAt;
  const first = ageSince(firstAt, nowMs);
  const series = valueAt(event, 'series');
  if (isFields(series)) {
    return { first, last: ageSince(textAt(series, 'lastObservedTime'), nowMs), count: numberAt(series, 'count') };
  }
  const count = numberAt(event, 'count') || numberAt(event, 'deprecatedCount');
  return { first, last: ageSince(lastAt, nowMs), count: count || 1 };
}

function describeSource(event: Fields): string {
  const source = fieldsAt(event, isFields(event['deprecatedSource']) ? 'deprecatedSource' : 'source');
  const component = textAt(source, 'component') || eitherText(event, 'reportingComponent', 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

function eitherText(event: Fields, core: string, grouped: string): string {
  return textAt(event, core) || textAt(event, grouped);
}
