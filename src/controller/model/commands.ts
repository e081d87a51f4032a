/** Every write that the controller may make. A command is a value: it can be logged, counted, compared and rejected. */
import type { ApiReason } from '../../machinery/api/api-error.ts';
import type { Condition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import type { PodView } from '../../machinery/api/pod.ts';
import type { Taint } from '../../machinery/api/taints.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import type { WriteLane } from '../../machinery/ports/write-lanes.ts';

export type Command =
  | {
      readonly kind: 'set-node-conditions';
      /** The node as it was evaluated. If the server has another version, the write is rejected. */
      readonly node: NodeView;
      readonly conditions: readonly Condition[];
    }
  | {
      readonly kind: 'change-taints';
      readonly node: NodeView;
      readonly add: readonly Taint[];
      readonly remove: readonly Taint[];
      /** Written with the taints; null removes one. */
      readonly annotations?: Readonly<Record<string, string | null>>;
      readonly lane: WriteLane;
    }
  | {
      readonly kind: 'set-node-metadata';
      readonly node: NodeView;
      readonly labels?: Labels;
      /** Null removes one. */
      readonly annotations?: Readonly<Record<string, string | null>>;
    }
  | { readonly kind: 'mark-pod-not-ready'; readonly pod: PodView; readonly atMs: number }
  | {
      readonly kind: 'mark-pod-disrupted';
      readonly pod: PodView;
      readonly atMs: number;
      /** As of the deletion that follows. */
      readonly forHealth?: boolean;
    }
  | {
      readonly kind: 'mark-pod-failed';
      readonly pod: PodView;
      readonly atMs: number;
      /** Written as condition DisruptionTarget=True; undefined: none. */
      readonly disruption: DisruptionWords | undefined;
      readonly regardlessOfNode: boolean;
    }
  /** Sets status.reason to NodeLost. */
  | { readonly kind: 'mark-pod-lost'; readonly pod: PodView; readonly forHealth?: boolean }
  | {
      readonly kind: 'delete-pod';
      readonly pod: PodView;
      /** Absent: that of the pod. 0: without waiting for a kubelet. */
      readonly gracePeriodSeconds?: number;
      /** `eviction` where absent. */
      readonly lane?: WriteLane;
      /** The write does not follow from the state of the node: a hold of the node does not apply. */
      readonly regardlessOfNode?: boolean;
      /** The write evicts the pod for the health of its node, so that an open breaker applies. */
      readonly forHealth?: boolean;
      /** The pod itself decides, by its tolerations or because it has completed: another version of it may not be deleted. */
      readonly onlyThisVersion?: boolean;
    }
  /** An eviction by the Eviction API: a PodDisruptionBudget may not allow it now. */
  | { readonly kind: 'evict-pod'; readonly pod: PodView; readonly forHealth: true };

/** Reason and message of a DisruptionTarget condition. */
export interface DisruptionWords {
  readonly reason: string;
  readonly message: string;
}

/**
 * Why the API server does not allow an eviction now. `budget`: a PodDisruptionBudget allows no further disruption; `forbidden`:
 * the permission is missing, or a budget is in an invalid state; `not-served`: the API server does not know the subresource;
 * `internal`: such as several budgets for one pod.
 */
export type EvictionRefusal = 'budget' | 'forbidden' | 'not-served' | 'rejected' | 'internal';

/**
 * Result of a command. `refused`: the API server does not allow an eviction now. `gone`: a read confirmed that the object no longer exists. `unwanted`: the reason for the write
 * had ended before the request was sent; nothing was sent. `held`: a policy, a pause or a breaker holds it; nothing was sent, and the
 * stage evaluates again when the hold ends, or after `forMs` (Infinity: no end is known).
 */
export type WriteOutcome =
  | { readonly result: 'written' }
  | { readonly result: 'gone' }
  | { readonly result: 'unwanted' }
  | { readonly result: 'held'; readonly forMs: number }
  | { readonly result: 'not-leader' }
  | {
      readonly result: 'refused';
      readonly why: EvictionRefusal;
      /** Message of the API server: which budget, for example. */
      readonly message: string;
      readonly retryAfterMs: number | undefined;
    }
  | WriteFailure;

/** `not-applied`: the API server accepted the write, and its answer does not show the change: a webhook removed it. */
export type FailureReason = ApiReason | 'not-applied';

export interface WriteFailure {
  readonly result: 'failed';
  readonly reason: FailureReason;
  /** The write is not repeated before this time. */
  readonly retryAfterMs: number | undefined;
}

const mayHaveHappened: ReadonlySet<FailureReason> = new Set(['timeout', 'unavailable', 'internal', 'aborted']);

/** The write failed without a response that excludes that it was applied. */
export function mayHaveBeenDone(outcome: WriteOutcome): boolean {
  if (outcome.result === 'refused') return outcome.why === 'internal';
  return outcome.result === 'failed' && mayHaveHappened.has(outcome.reason);
}

/**
 * The API server accepts no patch of this object (422), as where a time in it is outside of RFC 3339: a retry has the same
 * result. A deletion must not wait for it.
 */
export function isUnpatchable(outcome: WriteOutcome): boolean {
  return outcome.result === 'failed' && outcome.reason === 'invalid';
}

/**
 * Whether the reason for a write still holds, from current state. Called immediately before the request is sent, after
 * every wait, so it must be cheap and must not throw.
 */
export type StillWanted = () => boolean;

/** Sends commands to the API server. Never rejects. */
export interface CommandWriter {
  /** `signal`: gives up a request that hangs, of which it is then unknown whether it was done. */
  carryOut(command: Command, stillWanted: StillWanted, signal?: AbortSignal): Promise<WriteOutcome>;
}

/** A writer for the owner of its life cycle. */
export interface ClosableWriter extends CommandWriter {
  /** Sends nothing more; requests in flight complete. Commands that still wait get the result `not-leader`. */
  close(): void;
  /** Resolves when no write waits or is in flight. */
  drained(): Promise<void>;
}

/** Nodes including the results of the controller's own writes, before the watch delivers them. */
export interface NodeSource {
  get(name: string): NodeView | undefined;
}

/** Read access to pods, by `namespace/name`. */
export interface PodSource {
  get(key: string): PodView | undefined;
  byIndex(index: string, value: string): readonly PodView[];
}
