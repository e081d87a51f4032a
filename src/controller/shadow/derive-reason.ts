// Why did we act, or not? The decision log knows; it is told right after the act, so it is asked a moment later.
import type { Decision } from '../decisions.ts';
import type { Act } from './episode.ts';

export interface ToldDecision {
  /** Wall time. */
  readonly atMs: number;
  readonly decision: Decision;
  readonly text: string;
}

/** The wall clock has whole milliseconds, and the two clocks are read one after the other. */
const readingMs = 50;

const kindOf: Readonly<Record<Act, Decision['kind']>> = {
  'node-unknown': 'node-silent',
  'no-schedule-taint': 'taints-changed',
  'no-schedule-untaint': 'taints-changed',
  'no-execute-taint': 'taints-changed',
  'no-execute-untaint': 'taints-changed',
  'pod-not-ready': 'pod-marked-not-ready',
  'pod-eviction': 'pod-evicted',
};

/** The decision that our act came from; of an act that was not ours, or not yet, the last thing we decided about the object. */
export function deriveReason(
  act: Act,
  oursAtMs: number | undefined,
  history: readonly ToldDecision[],
): string | undefined {
  if (oursAtMs === undefined) return history.at(-1)?.text;
  const effect = act.startsWith('no-schedule') ? ':NoSchedule' : ':NoExecute';
  return history.find(({ atMs, decision }) => atMs >= oursAtMs - readingMs && fits(decision, act, effect))?.text;
}

function fits(decision: Decision, act: Act, effect: string): boolean {
  if (decision.kind !== kindOf[act]) return false;
  if (decision.kind !== 'taints-changed') return true;
  const taints = act.endsWith('untaint') ? decision.removed : decision.added;
  return taints.some((taint) => taint.endsWith(effect));
}
