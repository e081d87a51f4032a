import { planJittered } from '../loops/plan-phase.ts';

const retryMs = 10_000;
const networkRetryMs = 1_000;
const jitterShare = 0.5;

/** Part of the message of every failure that is only due to the network (kubelet `NetworkNotReadyErrorMsg`). */
export const networkNotReady = 'network is not ready';

interface StepEnd {
  /** Error message of the step. */
  readonly failure?: string | undefined;
  /** Time until a back-off ends. */
  readonly backoffMs?: number | undefined;
  /** Time until the pod's active deadline, or an earlier change of a probe. */
  readonly deadlineMs?: number | undefined;
  readonly syncFrequencyMs: number;
  /** Uniform in [0, 1). */
  readonly chance: number;
}

/**
 * Delay until the next sync of a pod: short when only the network is missing, longer after other failures, otherwise at
 * its resync or when its back-off ends; in no case after its active deadline (kubelet
 * `podWorkers.completeWork`, `activeDeadlineHandler`).
 */
export function decideRetryDelay({ deadlineMs = Number.POSITIVE_INFINITY, ...end }: StepEnd): number {
  return Math.min(Math.max(deadlineMs, 0), planJittered(decidePeriod(end), jitterShare, end.chance));
}

function decidePeriod({ failure, backoffMs, syncFrequencyMs }: StepEnd): number {
  if (failure?.includes(networkNotReady) === true) return networkRetryMs;
  if (failure !== undefined) return retryMs;
  return Math.min(Math.max(backoffMs ?? syncFrequencyMs, 0), syncFrequencyMs);
}

/** Delay before a static pod checks again whether the pod with the same full name has terminated. */
export function decideStartDelay(chance: number): number {
  return planJittered(retryMs, jitterShare, chance);
}
