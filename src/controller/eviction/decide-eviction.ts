// When must this pod leave? Each taint has its own clock: it started when the taint was put there, and the pod tolerates
// it for so long. The earliest of these ends counts. For one pod on one node an appointment is only ever brought forward.
import type { PodView } from '../../api/pod.ts';
import type { Taint } from '../../api/taints.ts';
import { tolerates } from '../../api/tolerations.ts';
import type { StayReason } from '../decisions.ts';

/** A NoExecute taint and since when it counts, on our monotonic clock. */
export interface RunningTaint {
  readonly taint: Taint;
  readonly sinceMs: number;
}

export type EvictionDecision =
  | { readonly kind: 'stay'; readonly why: StayReason }
  | {
      readonly kind: 'leave';
      readonly atMs: number;
      /** The taint whose time runs out first, and how long it was tolerated; 0 for not at all. */
      readonly taint: string;
      readonly toleratedSeconds: number;
    };

type Leave = Extract<EvictionDecision, { kind: 'leave' }>;

/** What the taints of its node mean for this pod (upstream `processPodOnNode`; the taints' own clocks: decision 0006). */
export function decideEviction(
  pod: Pick<PodView, 'tolerations' | 'terminating'>,
  taints: readonly RunningTaint[],
): EvictionDecision {
  if (taints.length === 0) return { kind: 'stay', why: 'taint-gone' };
  if (pod.terminating) return { kind: 'stay', why: 'already-terminating' };
  const ends = taints.flatMap((running) => endOfPatience(pod, running) ?? []);
  const [first, ...others] = ends;
  if (first === undefined) return { kind: 'stay', why: 'tolerates-for-ever' };
  return others.reduce((earliest, end) => (end.atMs < earliest.atMs ? end : earliest), first);
}

/** The first matching toleration in the list's order decides; one without seconds has no end. */
function endOfPatience(pod: Pick<PodView, 'tolerations'>, { taint, sinceMs }: RunningTaint): Leave | undefined {
  const toleration = pod.tolerations.find((candidate) => tolerates(candidate, taint));
  if (toleration === undefined) return { kind: 'leave', atMs: sinceMs, taint: taint.key, toleratedSeconds: 0 };
  if (typeof toleration.tolerationSeconds !== 'number') return undefined;
  const toleratedSeconds = Math.max(0, toleration.tolerationSeconds);
  return { kind: 'leave', atMs: sinceMs + toleratedSeconds * 1_000, taint: taint.key, toleratedSeconds };
}
