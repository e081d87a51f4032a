import type { Condition } from '../../api/conditions.ts';
import type { Pod } from '../../api/pod.ts';
import type { KillTarget, RuntimePodStatus } from '../runtime/pod-runtime.ts';

/** Why a worker is called (kubelet `types.SyncPodType`). */
export type WorkKind = 'create' | 'update' | 'sync' | 'kill';

/** How a pod that is killed is said to have ended. */
export interface PodEnd {
  readonly phase: 'Failed';
  readonly reason: string;
  readonly message: string;
  /** Told with the end, as `DisruptionTarget`. */
  readonly condition?: Condition;
}

export interface KillRequest {
  /** May only shorten the grace that the pod has already. 0: not said. */
  readonly graceMs?: number;
  readonly end?: PodEnd;
  /** Its containers may be removed as soon as they are dead. */
  readonly evicted?: boolean;
  /** Called when nothing of the pod runs any more. */
  readonly done?: () => void;
}

/** What a worker is asked for. Of several that come while it works, only the last counts. */
export type PodWork =
  | { readonly kind: WorkKind; readonly pod: Pod; readonly mirror?: Pod | undefined; readonly kill?: KillRequest }
  /** Something runs that belongs to no pod we know of. */
  | { readonly kind: 'kill'; readonly orphan: KillTarget; readonly kill?: KillRequest };

/** Where a worker is on its way; it never goes back. */
export type WorkerState = 'syncing' | 'terminating' | 'terminated' | 'finished';

export interface SyncStep {
  readonly kind: WorkKind;
  readonly pod: Pod;
  readonly mirror: Pod | undefined;
  readonly status: RuntimePodStatus;
}

export interface SyncStepOutcome {
  /** All of it has ended by itself, or has run for too long: it is to be terminated. */
  readonly terminal: boolean;
  /** A back-off ends before the next resync. Monotonic. */
  readonly backoffEndsAtMs?: number | undefined;
  /** The pod may not be active any longer than that. Monotonic. */
  readonly deadlineAtMs?: number | undefined;
}

export interface TerminatingStep {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly graceMs: number;
  readonly ends: readonly PodEnd[];
}

/** A step of a worker that failed and is to be repeated; the message decides how soon. */
export class StepFailure extends Error {}

/**
 * The steps of a worker (kubelet `podSyncer`). Each rejects with a {@link StepFailure} or a RuntimeFailure when it is to
 * be repeated, and stops early when the signal aborts.
 */
export interface PodSteps {
  sync(step: SyncStep, signal: AbortSignal): Promise<SyncStepOutcome>;
  /** Resolves when nothing of the pod runs. */
  terminating(step: TerminatingStep, signal: AbortSignal): Promise<void>;
  terminated(step: { readonly pod: Pod; readonly status: RuntimePodStatus }, signal: AbortSignal): Promise<void>;
  orphan(target: KillTarget, graceMs: number, signal: AbortSignal): Promise<void>;
}
