// Deletes the pods of evicted nodes independently of each other: a failed deletion blocks no other pod, and is retried
// until the pod is gone or no longer to be deleted. Each attempt starts from current state and ends with at most one
// write.
import { type DaemonSetView, selectsLabels } from '../../machinery/api/daemonset.ts';
import { nodeLostReason, podKey, type PodView } from '../../machinery/api/pod.ts';
import type { StoreReader } from '../../machinery/informer/informer.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import { forget, type WorkOutcome, WorkQueue } from '../../machinery/queueing/work-queue.ts';
import { type TokenAnswer, TokenQueues } from '../../machinery/queueing/token-queues.ts';
import { WorkLoop } from '../../machinery/supervision/work-loop.ts';
import { retryLater } from '../model/decide-next-step.ts';
import { mayHaveBeenDone, type WriteOutcome } from '../model/commands.ts';
import { type NodeEvictionReason, evaluationFailed } from '../model/decisions.ts';
import { nodeWatchDelayMsMax } from '../model/live-node.ts';
import type { DeletionRate } from '../model/policy.ts';
import { type RateWait, toRateWait, type WaitingPod } from '../model/waiting-pods.ts';
import { nodeControllerEviction } from './events.ts';
import type { StageDependencies } from '../model/dependencies.ts';
import { daemonSetsByNamespace } from '../model/indexes.ts';

const deletesAtOnceMax = 16;
const heldRecheckMs = 1_000;
/** An accepted deletion must be visible in the pod within this time, or it is sent again. */
const deletionShowsMsMax = 30_000;
/** Attempts to write a status that keeps changing. */
const reasonAttemptsMax = 3;

export interface PodDeleterOptions extends Omit<StageDependencies, 'nodes'> {
  readonly pods: Pick<StoreReader<PodView>, 'get'>;
  /** DaemonSets, with the index {@link daemonSetsByNamespace}. */
  readonly daemonSets: Pick<StoreReader<DaemonSetView>, 'byIndex'>;
  readonly recorder: EventRecorder;
  /** Whether the pod's node is still evicted, or no longer exists. */
  readonly wanted: (pod: PodView) => boolean;
  /** Milliseconds until the pod is to be asked for again; 0: nothing holds it. Its task is not dropped meanwhile. */
  readonly heldForMs: (pod: PodView) => number;
  /** Whether the watch of nodes has not reached this version of a pod. */
  readonly isNodeWatchBehind: (resourceVersion: string) => boolean;
  /** The rate of deletions of the policy of this node; undefined: no limit. */
  readonly deletionRateOf?: (node: string) => DeletionRate | undefined;
}

interface Task {
  readonly uid: string;
  readonly why: NodeEvictionReason;
  /** The pod's resourceVersion when the task was created, and when that was. */
  readonly resourceVersion: string;
  readonly atMs: number;
  /** Attempts to write the reason into its status. */
  reasonAttempts: number;
  announced: boolean;
  /** The deletion was accepted and recorded. */
  noted: boolean;
}

export type PodFate =
  | { readonly fate: 'deleted' }
  /** Already terminating; only its kubelet can complete that. */
  | { readonly fate: 'terminating' }
  /** The DaemonSet would create the pod again on the same node at once. */
  | { readonly fate: 'spared'; readonly daemonSet: string };

type PodOfEvictedNode = Pick<PodView, 'namespace' | 'labels' | 'terminating' | 'deletionGraceSeconds'>;

export class PodDeleter {
  readonly #options: PodDeleterOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #queue = new WorkQueue();
  readonly #loop: WorkLoop;
  readonly #tokens: TokenQueues;

  constructor(options: PodDeleterOptions) {
    this.#options = options;
    this.#tokens = new TokenQueues({
      nowMs: () => options.clock.monotonicMs(),
      onFirst: (key, afterMs) => this.#loop.add(key, afterMs),
      willTry: (key) => this.#tasks.has(key) && this.#queue.has(key),
    });
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock: options.clock,
      measured: { name: 'pod_eviction', meter: options.meter },
      workersMax: deletesAtOnceMax,
      handle: (key) => this.#reconcile(key),
      onFault: (key, error) => {
        this.#tokens.backOff(key);
        options.decisions.note(evaluationFailed('pod eviction', key, error));
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Deletes what waits now; for tests and tools without running loops. */
  drain(): Promise<void> {
    return this.#loop.drain();
  }

  /** Adds a pod for deletion. A repeated call changes nothing: the pod keeps its place and its back-off. */
  add(pod: PodView, why: NodeEvictionReason): void {
    const key = podKey(pod);
    if (this.#tasks.get(key)?.uid === pod.uid) return;
    const { uid, resourceVersion } = pod;
    const atMs = this.#options.clock.monotonicMs();
    this.#tasks.set(key, { uid, why, resourceVersion, atMs, reasonAttempts: 0, announced: false, noted: false });
    this.#loop.add(key);
  }

  /** The pod was deleted: another pod of the same name is not affected. */
  forget(pod: PodView): void {
    const key = podKey(pod);
    if (this.#tasks.get(key)?.uid !== pod.uid) return;
    this.#tasks.delete(key);
    this.#tokens.leave(key);
  }

  /** What happens to this pod if its node is evicted. */
  fateOf(pod: PodView): PodFate {
    return decidePodFate(pod, this.#options.daemonSets.byIndex(daemonSetsByNamespace, pod.namespace));
  }

  /** Wait of a pod for a token of the policy of its node; undefined: it does not wait. */
  rateWaitOf(pod: PodView): RateWait | undefined {
    const wait = this.#tokens.waitOf(podKey(pod));
    const rate = this.#options.deletionRateOf?.(pod.nodeName);
    return wait === undefined || rate === undefined ? undefined : toRateWait(rate, wait);
  }

  /** Every pod that waits because of the policy of its node, for a gauge. */
  *waits(): Iterable<WaitingPod> {
    for (const key of this.#tokens.waiting()) yield { policy: this.#tokens.queueOf(key) ?? '', reason: 'rate' };
  }

  async #reconcile(key: string): Promise<WorkOutcome> {
    const task = this.#tasks.get(key);
    const pod = this.#options.pods.get(key);
    if (task === undefined) return forget;
    if (pod === undefined || pod.uid !== task.uid || !this.#options.wanted(pod)) return this.#drop(key, task);
    const heldMs = this.#isNewerThanNode(task) ? heldRecheckMs : this.#options.heldForMs(pod);
    if (heldMs > 0) {
      this.#tokens.backOff(key);
      return { next: 'requeue', afterMs: Math.min(heldMs, heldRecheckMs) };
    }
    const hasReason = task.reasonAttempts >= reasonAttemptsMax || pod.reason === nodeLostReason;
    return hasReason ? this.#depart(pod, task) : this.#writeReason(pod, task);
  }

  /**
   * Users should find the reason in the pod, but a status that cannot be written does not prevent the deletion. Only a
   * conflict is worth another attempt.
   */
  async #writeReason(pod: PodView, task: Task): Promise<WorkOutcome> {
    const { writer } = this.#options;
    const command = { kind: 'mark-pod-lost', pod, forHealth: true } as const;
    const outcome = await writer.carryOut(command, () => this.#isStillWanted(pod));
    if (outcome.result === 'gone' || outcome.result === 'not-leader') return this.#drop(podKey(pod), task);
    if (isStopped(outcome)) return { next: 'requeue', afterMs: heldRecheckMs };
    const isContested = outcome.result === 'failed' && outcome.reason === 'conflict';
    task.reasonAttempts = isContested ? task.reasonAttempts + 1 : reasonAttemptsMax;
    return { next: 'requeue', afterMs: 0 };
  }

  async #depart(pod: PodView, task: Task): Promise<WorkOutcome> {
    const fate = this.fateOf(pod);
    if (fate.fate !== 'deleted') return this.#stay(pod, task, fate);
    const token = this.#askForToken(pod);
    if (token.kind === 'wait') return { next: 'requeue', afterMs: token.ms };
    if (!task.announced) this.#options.recorder.record(nodeControllerEviction(pod));
    task.announced = true;
    const stillWanted = (): boolean => this.#isStillWanted(pod) && this.#isToBeDeleted(pod);
    const command = { kind: 'delete-pod', pod, forHealth: true } as const;
    const outcome = await this.#options.writer.carryOut(command, stillWanted);
    if (outcome.result !== 'written' && !mayHaveBeenDone(outcome)) token.returnToken();
    return this.#after(pod, task, outcome);
  }

  #askForToken(pod: PodView): TokenAnswer {
    const key = podKey(pod);
    const rate = this.#options.deletionRateOf?.(pod.nodeName);
    if (rate !== undefined) return this.#tokens.tryTake(key, { queue: rate.policy, ratePerSecond: rate.ratePerSecond });
    this.#tokens.leave(key);
    return { kind: 'granted', returnToken: () => undefined };
  }

  /** The node may have recovered before the pod was bound: it waits until the watch of nodes would show it. */
  #isNewerThanNode({ why, resourceVersion, atMs }: Task): boolean {
    const { clock, isNodeWatchBehind } = this.#options;
    const isRecent = clock.monotonicMs() - atMs < nodeWatchDelayMsMax;
    return why === 'landed-on-evicted-node' && isRecent && isNodeWatchBehind(resourceVersion);
  }

  #isStillWanted(pod: PodView): boolean {
    const { pods, wanted } = this.#options;
    return pods.get(podKey(pod))?.uid === pod.uid && wanted(pod) && this.#options.heldForMs(pod) === 0;
  }

  #isToBeDeleted(pod: PodView): boolean {
    return this.fateOf(this.#options.pods.get(podKey(pod)) ?? pod).fate === 'deleted';
  }

  #stay(pod: PodView, task: Task, fate: Exclude<PodFate, { fate: 'deleted' }>): WorkOutcome {
    const key = podKey(pod);
    if (fate.fate === 'spared') {
      const { daemonSet } = fate;
      this.#options.decisions.note({ kind: 'pod-spared', pod: key, node: pod.nodeName, daemonSet }, pod.uid);
    }
    return this.#drop(key, task);
  }

  #after(pod: PodView, task: Task, outcome: WriteOutcome): WorkOutcome {
    const key = podKey(pod);
    if (outcome.result === 'failed') return retryLater(outcome);
    if (isStopped(outcome)) return { next: 'requeue', afterMs: heldRecheckMs };
    if (outcome.result !== 'written') return this.#drop(key, task);
    const { why } = task;
    if (!task.noted)
      this.#options.decisions.note({ kind: 'pod-evicted-with-node', pod: key, node: pod.nodeName, why }, pod.uid);
    task.noted = true;
    this.#tokens.leave(key);
    // The task stays until the pod is gone or terminating, so that a repeated call does not delete it again.
    return { next: 'requeue', afterMs: deletionShowsMsMax };
  }

  /** Drops the task. A newer pod of the same name keeps a task of its own. */
  #drop(key: string, task: Task): WorkOutcome {
    if (this.#tasks.get(key) !== task) return forget;
    this.#tasks.delete(key);
    this.#tokens.leave(key);
    return forget;
  }
}

/** Whether nothing was sent: not wanted at the time, or held. */
function isStopped({ result }: WriteOutcome): boolean {
  return result === 'unwanted' || result === 'held';
}

/**
 * What happens to a pod when its node is evicted (upstream `DeletePods`, in its order). Pods of a DaemonSet are
 * recognized by its selector in the pod's namespace, whatever their owner reference.
 */
export function decidePodFate(pod: PodOfEvictedNode, daemonSets: Iterable<DaemonSetView>): PodFate {
  if (pod.terminating || pod.deletionGraceSeconds !== undefined) return { fate: 'terminating' };
  for (const daemonSet of daemonSets) {
    if (daemonSet.namespace === pod.namespace && selectsLabels(daemonSet, pod.labels))
      return { fate: 'spared', daemonSet: daemonSet.name };
  }
  return { fate: 'deleted' };
}
