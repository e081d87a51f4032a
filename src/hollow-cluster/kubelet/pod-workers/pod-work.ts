import type { Condition } from '../../../machinery/api/conditions.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { KillTarget, RuntimePodStatus } from '../runtime/pod-runtime.ts';

/** The kind of work (kubelet `types.SyncPodType`). */
export type WorkKind = 'create' | 'update' | 'sync' | 'kill';

/** The final phase, reason and message of a pod that is killed. */
export interface PodEnd {
  readonly phase: 'Failed';
  readonly reason: string;
  readonly message: string;
  /** Added to the final status: the `DisruptionTarget` condition. */
  readonly condition?: Condition;
}

interface KillRequest {
  /** Can only shorten the pod's present grace period. 0: unset. */
  readonly graceMs?: number;
  readonly end?: PodEnd;
  /** True if the pod's containers may be removed as soon as they have exited. */
  readonly evicted?: boolean;
  /** Called when nothing of the pod runs any more. */
  readonly done?: () => void;
}

/** Work for a pod worker. Of several items that arrive while it works, only the last one is kept. */
export type PodWork =
  | { readonly kind: WorkKind; readonly pod: Pod; readonly mirror?: Pod | undefined; readonly kill?: KillRequest }
  /** A running pod of the runtime that no source has. */
  | { readonly kind: 'kill'; readonly orphan: KillTarget; readonly kill?: KillRequest };

/** State of a worker; it only moves forward. */
export type WorkerState = 'syncing' | 'terminating' | 'terminated' | 'finished';

export interface SyncStep {
  readonly kind: WorkKind;
  readonly pod: Pod;
  readonly mirror: Pod | undefined;
  readonly status: RuntimePodStatus;
}

export interface SyncStepOutcome {
  /** All containers have ended, or the active deadline has passed: the pod is to be terminated. */
  readonly terminal: boolean;
  /** Time at which a back-off ends before the next resync. Monotonic. */
  readonly backoffEndsAtMs?: number | undefined;
  /** The pod's active deadline, or an earlier change of a probe. Monotonic. */
  readonly deadlineAtMs?: number | undefined;
}

export interface TerminatingStep {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly graceMs: number;
  readonly ends: readonly PodEnd[];
}

/** A step of a worker that failed and is retried; the message determines the delay. */
export class StepFailure extends Error {}

/**
 * The steps of a worker (kubelet `podSyncer`). Each rejects with a {@link StepFailure} or a RuntimeFailure to be
 * retried, and stops early when the signal aborts.
 */
export interface PodSteps {
  sync(step: SyncStep, signal: AbortSignal): Promise<SyncStepOutcome>;
  /** Resolves when nothing of the pod runs. */
  terminating(step: TerminatingStep, signal: AbortSignal): Promise<void>;
  terminated(step: { readonly pod: Pod; readonly status: RuntimePodStatus }, signal: AbortSignal): Promise<void>;
  orphan(target: KillTarget, graceMs: number, signal: AbortSignal): Promise<void>;
}
