import { formatCountdown, formatDuration } from '../page/format-time.ts';
import type { NodeOutlook } from '../../controller/report/pages.ts';

/** One line of the picture: a bar from its start to its end. */
export interface Countdown {
  readonly kind: 'heartbeat' | 'taint' | 'pod';
  readonly label: string;
  /** Null: before the picture begins, or not known. */
  readonly startMs: number | null;
  /** Null: it does not end in the current state. */
  readonly endMs: number | null;
  readonly note: string;
}

interface Tick {
  readonly atMs: number;
  readonly label: string;
}

export interface CountdownPicture {
  readonly startMs: number;
  readonly endMs: number;
  readonly ticks: readonly Tick[];
  readonly countdowns: readonly Countdown[];
}

/** What runs out for a node. */
type CountdownSource = Pick<
  NodeOutlook,
  'lastHeartbeat' | 'grace' | 'silence' | 'noExecuteTaint' | 'eviction' | 'evictions'
>;

/** A common time axis for everything that runs out for a node, soonest pods first. */
export function buildCountdowns(outlook: CountdownSource, nowMs: number): CountdownPicture {
  const countdowns = [...buildHeartbeat(outlook), ...buildTaint(outlook), ...buildPods(outlook)];
  const ends = countdowns.flatMap(({ endMs }) => endMs ?? []);
  const endMs = Math.max(nowMs + 30_000, ...ends) + 5_000;
  const starts = countdowns.flatMap(({ startMs }) => startMs ?? []);
  // What began long ago would leave no space for what is next.
  const earliestMs = nowMs - Math.max(60_000, endMs - nowMs);
  const startMs = Math.max(earliestMs, Math.min(nowMs - 15_000, ...starts));
  return { startMs, endMs, ticks: buildTicks({ startMs, endMs, nowMs }), countdowns };
}

function timeOf(at: string | null | undefined): number | null {
  return at === null || at === undefined ? null : Date.parse(at);
}

function buildHeartbeat({ lastHeartbeat, grace, silence }: CountdownSource): readonly Countdown[] {
  if (lastHeartbeat === null || grace === null) return [];
  const startMs = Date.parse(lastHeartbeat.at);
  const endMs = timeOf(silence?.since?.at ?? silence?.from?.at);
  const isOver = silence !== null && silence.since !== null;
  const note = isOver ? 'silent since then' : `grace period ${formatDuration(grace.seconds)}`;
  return [{ kind: 'heartbeat', label: 'Last heartbeat to silence', startMs, endMs, note }];
}

function buildTaint({ silence, noExecuteTaint, eviction }: CountdownSource): readonly Countdown[] {
  const startMs = timeOf(silence?.since?.at ?? silence?.from?.at);
  const countdowns: Countdown[] = [];
  if (noExecuteTaint !== null) {
    const note = `estimate, ${noExecuteTaint.key}`;
    countdowns.push({ kind: 'taint', label: 'NoExecute taint', startMs, endMs: timeOf(noExecuteTaint.when.at), note });
  }
  const slot = eviction?.slot ?? null;
  if (slot !== null) {
    const endMs = timeOf(slot.at);
    countdowns.push({ kind: 'taint', label: 'Eviction of the node', startMs, endMs, note: 'estimate' });
  }
  return countdowns;
}

function buildPods({ evictions }: CountdownSource): readonly Countdown[] {
  return evictions.first.map(({ pod, state, cause, when }) => {
    const endMs = timeOf(when.at);
    const tolerated = cause.kind === 'taint' ? cause.toleratedSeconds : 0;
    const note = cause.kind === 'taint' ? `${state}, ${describeToleration(tolerated)}` : `${state}, with its node`;
    return { kind: 'pod', label: pod, startMs: endMs === null ? null : endMs - tolerated * 1_000, endMs, note };
  });
}

function describeToleration(seconds: number): string {
  return seconds === 0 ? 'not tolerated' : `tolerated for ${formatDuration(seconds)}`;
}

const stepsSeconds: readonly number[] = [
  5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800,
];
const ticksMax = 8;

/** Ticks at whole steps before and after now. */
function buildTicks({
  startMs,
  endMs,
  nowMs,
}: {
  readonly startMs: number;
  readonly endMs: number;
  readonly nowMs: number;
}) {
  const span = (endMs - startMs) / 1_000;
  const step = stepsSeconds.find((seconds) => span / seconds <= ticksMax) ?? span;
  const first = Math.ceil((startMs - nowMs) / 1_000 / step);
  const last = Math.floor((endMs - nowMs) / 1_000 / step);
  return Array.from({ length: last - first + 1 }, (_, index): Tick => {
    const seconds = (first + index) * step;
    return { atMs: nowMs + seconds * 1_000, label: tickLabel(seconds) };
  });
}

function tickLabel(seconds: number): string {
  if (seconds === 0) return 'now';
  return `${seconds < 0 ? '−' : '+'}${formatDuration(Math.abs(seconds)).replace(/ 00[sm]$/u, '')}`;
}

/** The place of a time on the axis, 0 to 1; times outside are at the edge. */
export function buildShare({ startMs, endMs }: Pick<CountdownPicture, 'startMs' | 'endMs'>, atMs: number): number {
  return Math.min(1, Math.max(0, (atMs - startMs) / (endMs - startMs)));
}

/** When a countdown ends, relative to now: `in 0:42`, `3m 05s ago`, `not in the current state`. */
export function describeEnd(endMs: number | null, nowMs: number): string {
  if (endMs === null) return 'not in the current state';
  const seconds = (endMs - nowMs) / 1_000;
  if (seconds <= -1) return `${formatDuration(-seconds)} ago`;
  const left = formatCountdown(seconds);
  return left === 'now' ? 'now' : `in ${left}`;
}
