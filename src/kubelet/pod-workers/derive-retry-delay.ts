import { deriveJittered } from '../derive-phase.ts';

const retryMs = 10_000;
const networkRetryMs = 1_000;
const jitterShare = 0.5;

/** In the message of every failure that only waits for the network (kubelet `NetworkNotReadyErrorMsg`). */
export const networkNotReady = 'network is not ready';

export interface StepEnd {
  /** What the step failed with. */
  readonly failure?: string | undefined;
  /** Until a back-off ends. */
  readonly backoffMs?: number | undefined;
  /** Until the pod may not be active any longer. */
  readonly deadlineMs?: number | undefined;
  readonly syncFrequencyMs: number;
  /** Uniform in [0, 1). */
  readonly chance: number;
}

/**
 * How long until a pod is looked at again without anybody asking: soon when only the network is missing, later when
 * something failed, else at its resync or when its back-off ends; in no case after its deadline (kubelet
 * `podWorkers.completeWork`, `activeDeadlineHandler`).
 */
export function deriveRetryDelay({ deadlineMs = Number.POSITIVE_INFINITY, ...end }: StepEnd): number {
  return Math.min(Math.max(deadlineMs, 0), deriveJittered(derivePeriod(end), jitterShare, end.chance));
}

function derivePeriod({ failure, backoffMs, syncFrequencyMs }: StepEnd): number {
  if (failure?.includes(networkNotReady) === true) return networkRetryMs;
  if (failure !== undefined) return retryMs;
  return Math.min(Math.max(backoffMs ?? syncFrequencyMs, 0), syncFrequencyMs);
}

/** How long a static pod waits before it asks again whether the one whose name it bears has ended. */
export function deriveStartDelay(chance: number): number {
  return deriveJittered(retryMs, jitterShare, chance);
}
