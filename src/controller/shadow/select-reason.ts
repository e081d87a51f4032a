// The reason of an action, from the decision log; it is recorded right after the action, so it is read a moment later.
import type { Decision } from '../model/decisions.ts';
import type { Act } from './episode.ts';

export interface RecordedDecision {
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

/** The decision behind the shadow's action; without an action, the last decision about the object. */
export function selectReason(
  act: Act,
  shadowAtMs: number | undefined,
  history: readonly RecordedDecision[],
): string | undefined {
  if (shadowAtMs === undefined) return history.at(-1)?.text;
  const effect = act.startsWith('no-schedule') ? ':NoSchedule' : ':NoExecute';
  return history.find(({ atMs, decision }) => atMs >= shadowAtMs - readingMs && fits(decision, act, effect))?.text;
}

function fits(decision: Decision, act: Act, effect: string): boolean {
  if (decision.kind !== kindOf[act]) return false;
  if (decision.kind !== 'taints-changed') return true;
  const taints = act.endsWith('untaint') ? decision.removed : decision.added;
  return taints.some((taint) => taint.endsWith(effect));
}
