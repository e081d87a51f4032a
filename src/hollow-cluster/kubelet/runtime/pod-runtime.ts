import type { Container, Pod } from '../../../machinery/api/pod.ts';

/** State as reported by the runtime; a container that is `created` has not run yet. */
export type RuntimeState = 'created' | 'running' | 'exited' | 'unknown';

/** `init`: an init container. `sandbox`: the pod sandbox, listed like a container. */
export type ContainerKind = 'sandbox' | 'init' | 'container';

/** One container in the list of all pods. */
export interface RuntimeContainer {
  /** Unique forever: a restarted container is a new one. */
  readonly id: string;
  readonly name: string;
  readonly kind: ContainerKind;
  readonly state: RuntimeState;
}

/** A pod in the list of all pods, which PLEG compares. */
export interface RuntimePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly RuntimeContainer[];
}

/** The inspection of one container. Times are wall time in milliseconds. */
export interface RuntimeContainerStatus extends RuntimeContainer {
  readonly image: string;
  readonly imageId: string;
  /** The sandbox it was started in; absent: the pod's newest. */
  readonly sandboxId?: string;
  /** Number of earlier containers of this name in this pod. */
  readonly restartCount: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  readonly exitCode: number | undefined;
  /** Reason of its exit: `Completed`, `Error`, `ContainerStatusUnknown`. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** The inspection of a pod, which a pod worker acts on. Containers of one name are listed newest first. */
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
  /** Undefined while the runtime does not report its network. */
  readonly network: RuntimeCondition | undefined;
}

/** Why a container that should run waits: `reason` and `message` as in its status. */
export interface Waiting {
  readonly container: string;
  /** `CrashLoopBackOff`, `ErrImagePull`, `ImagePullBackOff`, `CreateContainerError`. */
  readonly reason: string;
  readonly message: string;
}

/** The result of one sync of a pod. */
export interface SyncOutcome {
  readonly waiting: readonly Waiting[];
  /** Monotonic time at which the first back-off ends; undefined if there is none. */
  readonly backoffEndsAtMs: number | undefined;
  /** Message of a failure that is retried soon. A back-off is not a failure. */
  readonly failure: string | undefined;
}

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** The results of the probes of a pod's running containers, by container id. */
export interface ProbeResults {
  /** Containers whose startup probe has not succeeded yet. */
  readonly unstarted: ReadonlySet<string>;
  /** Containers that have not started, or whose readiness probe does not succeed. */
  readonly unready: ReadonlySet<string>;
  /** Containers that are to be killed, by the probe that requires it. */
  readonly failed: ReadonlyMap<string, Exclude<ProbeKind, 'readiness'>>;
  /** Probes that fail, for Events. */
  readonly failing: readonly { readonly container: Container; readonly probe: ProbeKind }[];
  /** Monotonic time at which a result changes next; undefined if none will. */
  readonly nextChangeAtMs: number | undefined;
}

/** The results of a pod without probes. */
export const noProbes: ProbeResults = {
  unstarted: new Set(),
  unready: new Set(),
  failed: new Map(),
  failing: [],
  nextChangeAtMs: undefined,
};

/** An error of the runtime, real or injected. */
export class RuntimeFailure extends Error {}

/**
 * The container runtime of a kubelet (upstream `kubecontainer.Runtime`). Every call may reject with a
 * {@link RuntimeFailure}, and a hanging call returns when the fault is cleared or when the signal aborts.
 */
export interface PodRuntime {
  conditions(signal: AbortSignal): Promise<RuntimeConditions>;
  /** Every pod that has containers, including exited ones. */
  listPods(signal: AbortSignal): Promise<readonly RuntimePod[]>;
  /** An unknown pod has no containers. */
  inspectPod(uid: string, signal: AbortSignal): Promise<RuntimePodStatus>;
  /** The results of the pod's probes now; never fails. */
  probe(pod: Pod): ProbeResults;
  /**
   * Starts what should run and does not: sandbox, init containers in order, containers; restarts them as the restart
   * policy, back-off and probes require (upstream `SyncPod`). Resolves when they are started.
   */
  syncPod(pod: Pod, status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome>;
  /**
   * Stops all containers of a pod; each has `graceMs` to exit by itself, but at least 2 s (upstream
   * `minimumGracePeriodInSeconds`). Resolves when nothing of it runs. An aborted signal only ends the wait: containers
   * keep stopping, and a later call can only shorten their grace period.
   */
  killPod(pod: KillTarget, graceMs: number, signal: AbortSignal): Promise<void>;
  /**
   * Removes exited containers except the newest `keepPerName` of each name; the exited sandbox is removed with the last
   * one.
   */
  pruneContainers(uid: string, keepPerName: number): void;
  /**
   * Called when a pod or the runtime's conditions may have changed, or a scheduled change was added. Returns the
   * function that unsubscribes.
   */
  onChange(listener: () => void): () => void;
  /** Monotonic time of the first scheduled change after `sinceMs`; undefined if there is none. */
  nextChangeAtMs(sinceMs: number): number | undefined;
}

/** A pod to be stopped; its object if it is known. */
export interface KillTarget {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: Pod | undefined;
}

export function targetOf(pod: Pod): KillTarget {
  const { uid = '', namespace = '', name = '' } = pod.metadata;
  return { uid, namespace, name, pod };
}
