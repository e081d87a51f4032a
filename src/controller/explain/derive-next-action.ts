import { deriveEstimate } from './derive-time.ts';
import type { Moment } from './facts.ts';
import type { NextAction } from './outlook.ts';

/** Something we would do, and when. */
export interface Action extends Omit<NextAction, 'when'> {
  readonly atMs: number;
}

/** The first of these; of several at the same time, the one that is named first. */
export function deriveNextAction(actions: readonly Action[], now: Moment): NextAction {
  const [first, ...others] = actions;
  if (first === undefined) return { act: 'none', subject: null, given: 'nothing-changes', when: null };
  const { act, subject, given, atMs } = others.reduce(
    (soonest, next) => (next.atMs < soonest.atMs ? next : soonest),
    first,
  );
  return { act, subject, given, when: deriveEstimate(atMs, now) };
}
