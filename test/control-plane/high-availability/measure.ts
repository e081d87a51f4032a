// Duration of each handover and the delays that it caused, as a table.
import { type Evidence, type Gap, termAt } from './evidence.ts';
import { lateness, type Lateness } from './lateness.ts';
import { graceMs } from './settings.ts';
import { silencesOf } from './heartbeats.ts';

const columns = [
  'handover',
  'released',
  'acquired',
  'first write',
  'due in gap',
  'late, median',
  'late, max',
  'due after',
  'late, median',
  'late, max',
  'silent in gap',
  'tainted, max',
  'late arrivals',
] as const;

/** Late requests of former leaders with their number: `delete pods 404 x 2`. */
export function lateArrivals({ late }: Evidence): readonly string[] {
  const counts = new Map<string, number>();
  for (const { verb, resource, code } of late) {
    const what = `${verb} ${resource} ${code}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, times]) => `${what} x ${times}`).sort();
}

/** All times in seconds; `released`, `acquired` and `first write` since the leader was stopped. */
export function tableOf(evidence: Evidence): string {
  const rows = [columns, ...evidence.gaps.map((gap, place) => rowOf(evidence, gap, evidence.gaps[place + 1]))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')).join('\n');
}

function rowOf(evidence: Evidence, gap: Gap, next: Gap | undefined): readonly string[] {
  const { takenAtMs, stoppedAtMs, name } = gap;
  const all = evidence.pods
    .flatMap((pod) => lateness(evidence, pod))
    .filter(({ deletedAtMs }) => deletedAtMs !== undefined);
  const meanwhile = all.filter((pod) => pod.gap === gap);
  const untilMs = next?.stoppedAtMs ?? Number.POSITIVE_INFINITY;
  const later = all.filter((pod) => pod.gap === undefined && pod.dueMs >= takenAtMs && pod.dueMs < untilMs);
  const releasedAtMs = termAt(evidence.terms, stoppedAtMs)?.releasedAtMs;
  const first = evidence.writes.find(
    ({ atMs, user }) => atMs >= takenAtMs && user === termAt(evidence.terms, takenAtMs)?.user,
  );
  const delays = taintDelays(evidence, gap);
  const late = [...evidence.late].filter(({ atMs }) => atMs >= takenAtMs && atMs < untilMs);
  return [
    name,
    releasedAtMs === undefined ? '-' : seconds(releasedAtMs - stoppedAtMs),
    seconds(takenAtMs - stoppedAtMs),
    first === undefined ? '-' : seconds(first.atMs - stoppedAtMs),
    ...spread(meanwhile),
    ...spread(later),
    String(delays.length),
    delays.length === 0 ? '-' : seconds(Math.max(...delays)),
    String(late.length),
  ];
}

function spread(pods: readonly Lateness[]): readonly string[] {
  const lateMs = pods
    .map(({ deletedAtMs = 0, attendedMs }) => Math.max(0, deletedAtMs - attendedMs))
    .sort((a, b) => a - b);
  const median = lateMs[Math.floor(lateMs.length / 2)];
  const most = lateMs.at(-1);
  return [String(pods.length), median === undefined ? '-' : seconds(median), most === undefined ? '-' : seconds(most)];
}

/** Time from the takeover to the first taint, for nodes whose grace period ended in the gap. */
function taintDelays({ zoneOf, signs, taintActs }: Evidence, { stoppedAtMs, takenAtMs }: Gap): readonly number[] {
  return [...zoneOf.keys()].flatMap((node) =>
    silencesOf(signs, node, graceMs)
      .filter(({ fromMs, untilMs }) => {
        return fromMs + graceMs > stoppedAtMs && fromMs + graceMs <= takenAtMs && untilMs > takenAtMs;
      })
      .flatMap(({ fromMs }) => {
        const act = taintActs.find((act) => act.node === node && act.atMs > fromMs && act.added.length > 0);
        return act === undefined ? [] : [act.atMs - takenAtMs];
      }),
  );
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
