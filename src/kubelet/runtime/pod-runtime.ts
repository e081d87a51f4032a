import type { Pod } from '../../api/pod.ts';

/** As the runtime says it; a container that is `created` has not run yet. */
export type RuntimeState = 'created' | 'running' | 'exited' | 'unknown';

/** `init`: an init container. `sandbox`: what holds a pod's containers together, listed as one of them. */
export type ContainerKind = 'sandbox' | 'init' | 'container';

/** One container in a listing of everything. */
export interface RuntimeContainer {
  /** Unique for ever: a restarted container is a new one. */
  readonly id: string;
  readonly name: string;
  readonly kind: ContainerKind;
  readonly state: RuntimeState;
}

/** A pod in a listing of everything: what PLEG compares. */
export interface RuntimePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly RuntimeContainer[];
}

/** One container, inspected. Times are wall time in milliseconds. */
export interface RuntimeContainerStatus extends RuntimeContainer {
  readonly image: string;
  readonly imageId: string;
  /** The sandbox it was started in; absent counts as the pod's newest. */
  readonly sandboxId?: string;
  /** How often a container of this name ran in this pod before. */
  readonly restartCount: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  readonly exitCode: number | undefined;
  /** Why it exited: `Completed`, `Error`, `ContainerStatusUnknown`. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** A pod, inspected: what a pod worker acts on. Containers of one name are listed newest first. */
export interface RuntimePodStatus {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly ips: readonly string[];
  readonly containers: readonly RuntimeContainerStatus[];
}

/** One of the runtime's two conditions. */
export type RuntimeCondition =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly message: string };

export interface RuntimeConditions {
  readonly runtime: RuntimeCondition;
  /** Undefined while the runtime says nothing about its network. */
  readonly network: RuntimeCondition | undefined;
}

/** Why a container waits, though a pass over its pod wanted it to run: `reason` and `message` as in its status. */
export interface Waiting {
  readonly container: string;
  /** `CrashLoopBackOff`, `ErrImagePull`, `ImagePullBackOff`, `CreateContainerError`. */
  readonly reason: string;
  readonly message: string;
}

/** What came of one pass over a pod. */
export interface SyncOutcome {
  readonly waiting: readonly Waiting[];
  /** Monotonic time at which the first back-off ends; undefined when none holds. */
  readonly backoffEndsAtMs: number | undefined;
  /** Something failed and is worth another try soon: its message. Back-off is none. */
  readonly failure: string | undefined;
}

/** What the runtime is asked for fails, or is made to fail. */
export class RuntimeFailure extends Error {}

/**
 * The bottom of a kubelet: what runs containers (upstream `kubecontainer.Runtime`). Everything may reject with a
 * {@link RuntimeFailure}, and a hanging runtime answers when it is mended or when the signal aborts.
 */
export interface PodRuntime {
  conditions(signal: AbortSignal): Promise<RuntimeConditions>;
  /** Every pod that has containers, dead ones included. */
  listPods(signal: AbortSignal): Promise<readonly RuntimePod[]>;
  /** A pod that the runtime does not know has no containers. */
  inspectPod(uid: string, signal: AbortSignal): Promise<RuntimePodStatus>;
  /**
   * Starts what should run and does not: sandbox, init containers in their order, containers; again after an exit where
   * the restart policy says so and its back-off is over (upstream `SyncPod`). Resolves when they are started.
   */
  syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome>;
  /**
   * Stops all that runs of a pod; each container has `graceMs` to end by itself, but at least 2 s (upstream
   * `minimumGracePeriodInSeconds`). Resolves when nothing of it runs. An aborted signal only ends the waiting: what was
   * told to stop goes on stopping, and a later call can only shorten its grace.
   */
  killPod(pod: KillTarget, graceMs: number, signal: AbortSignal): Promise<void>;
  /** Removes dead containers, all but the newest `keepPerName` of each name; the dead sandbox goes with the last of them. */
  pruneContainers(uid: string, keepPerName: number): void;
  /**
   * Calls back when something of a pod may have changed, or will by itself, and when the runtime's conditions may answer
   * otherwise than before, or not at all. Returns the way to leave.
   */
  onChange(listener: () => void): () => void;
  /** Monotonic time of the first change by itself after `sinceMs`; undefined when there is none. */
  nextChangeAtMs(sinceMs: number): number | undefined;
}

/** What is known of a pod that is to be stopped; its object where there is one. */
export interface KillTarget {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: Pod | undefined;
}
