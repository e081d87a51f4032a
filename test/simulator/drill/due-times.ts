// When the NoExecute taints of a node are due for a pod, from the states of the node that were committed.
import { isHealthTaint, type Taint } from '../../../src/machinery/api/taints.ts';
import { tolerates } from '../../../src/machinery/api/tolerations.ts';
import type { NodeState, PodRecord } from './drill-record.ts';
import { noExecuteHealth, shortKey } from './find-fast-taints.ts';

/** Time stamps of whole seconds, and one latency. */
export const earlyMs = 1_700;

/** When the NoExecute taints at this time are due for the pod. A swap of health taints keeps the earlier deadline. */
export function dueTimes(
  pod: PodRecord,
  states: readonly NodeState[],
  atMs: number,
  counts: (taint: Taint) => boolean = () => true,
): readonly number[] {
  const all = (stateAt(states, atMs)?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  const taints = all.filter(counts);
  return taints.flatMap((taint) => {
    const own = endMs(
      pod,
      taint,
      sinceMs(states, atMs, (other) => other.key === taint.key && other.effect === taint.effect),
    );
    if (!isHealthTaint(taint)) return own;
    const swapped = states.findLast(
      (state) => state.atMs <= atMs && noExecuteHealth(state) !== '' && noExecuteHealth(state) !== shortKey(taint),
    );
    const hasBoth =
      swapped !== undefined &&
      sinceMs(states, atMs, (other) => isHealthTaint(other) && other.effect === 'NoExecute') <= swapped.atMs;
    const [before] = swapped?.taints.filter((other) => isHealthTaint(other) && other.effect === 'NoExecute') ?? [];
    if (!hasBoth || before === undefined) return own;
    return [
      ...own,
      ...endMs(
        pod,
        before,
        sinceMs(states, swapped.atMs, (other) => other.key === before.key && other.effect === 'NoExecute'),
      ),
    ];
  });
}

function endMs(pod: PodRecord, taint: Taint, fromMs: number): readonly number[] {
  const toleration = pod.tolerations.find((candidate) => tolerates(candidate, taint));
  if (toleration !== undefined && toleration.tolerationSeconds === undefined) return [];
  return [Math.max(fromMs, pod.createdMs) + Math.max(0, toleration?.tolerationSeconds ?? 0) * 1_000];
}

/** Since when, without a break until `atMs`, some taint of the node matches. */
function sinceMs(states: readonly NodeState[], atMs: number, matches: (taint: Taint) => boolean): number {
  let fromMs = Infinity;
  for (const state of states) {
    if (state.atMs > atMs) break;
    if (!state.taints.some(matches)) fromMs = Infinity;
    else if (fromMs === Infinity) fromMs = state.atMs;
  }
  return fromMs;
}

export function stateAt(states: readonly NodeState[], atMs: number): NodeState | undefined {
  return states.findLast((state) => state.atMs <= atMs);
}

export function readyAt(states: readonly NodeState[], atMs: number): string | undefined {
  return stateAt(states, atMs)?.ready;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
