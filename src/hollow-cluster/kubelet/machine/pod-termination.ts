import type { ObjectReference } from '../../../machinery/api/meta.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';

/** Why the kubelet itself terminates a pod, and how. The pod's status gets a DisruptionTarget condition. */
export interface PodTermination {
  /** Reason in the pod's status, with phase Failed; a pod that succeeds before it stops keeps its phase. */
  readonly reason: string;
  readonly message: string;
  /** Overrides the pod's own grace period; undefined: the pod's own. */
  readonly graceMs: number | undefined;
  /** True for an eviction: the pod is not restarted, whatever its restart policy. */
  readonly evicted: boolean;
}

/** Dependencies of the parts of a kubelet that terminate pods by themselves. */
export interface PodKillerOptions {
  /** The object of Events about the node. */
  readonly node: ObjectReference;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pods that run or may run. */
  readonly pods: () => readonly Pod[];
  /**
   * Kills a pod for this reason. Resolves when nothing of the pod runs any more; callers log a rejection and continue.
   */
  readonly kill: (pod: Pod, termination: PodTermination, signal: AbortSignal) => Promise<void>;
}
