// Deletes the pods of evicted nodes, each on its own: one that cannot be deleted holds up no other, and is tried again
// until it is gone or no longer wanted gone. Each round begins with a fresh look and ends with one write at most.
import type { DaemonSetView } from '../../api/daemonset.ts';
import { nodeLostReason, podKey, type PodView } from '../../api/pod.ts';
import type { StoreReader } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Meter } from '../../ports/meter.ts';
import { backOffAtLeast, forget, type Outcome, WorkQueue } from '../../queueing/work-queue.ts';
import { WorkLoop } from '../../supervision/work-loop.ts';
import type { CommandWriter, WriteOutcome } from '../commands.ts';
import { lookFailed, type DecisionSink, type DepartureReason } from '../decisions.ts';
import { decidePodFate, type PodFate } from './decide-pod-fate.ts';
import { nodeControllerEviction } from './events.ts';

/** DaemonSets by their namespace: the index their store must have. */
export const daemonSetsByNamespace = 'namespace';

const deletesAtOnceMax = 16;
const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
const holdLookAgainMs = 1_000;

export interface PodDeleterOptions {
  readonly pods: Pick<StoreReader<PodView>, 'get'>;
  /** With the index {@link daemonSetsByNamespace}. */
  readonly daemonSets: Pick<StoreReader<DaemonSetView>, 'byIndex'>;
  readonly writer: CommandWriter;
  readonly decisions: DecisionSink;
  readonly recorder: EventRecorder;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Whether the pod's node is still evicted, or no longer exists. */
  readonly wanted: (pod: PodView) => boolean;
  /** While this is true nothing is deleted, and nothing is forgotten. */
  readonly isHeld: () => boolean;
}

interface Task {
  readonly uid: string;
  readonly why: DepartureReason;
  /** We tried to write the reason into its status: not more often than once. */
  reasonTried: boolean;
  announced: boolean;
}

export class PodDeleter {
  readonly #options: PodDeleterOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #loop: WorkLoop;

  constructor(options: PodDeleterOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      queue: new WorkQueue(retryLimits),
      clock: options.clock,
      measured: { name: 'pod_eviction', meter: options.meter },
      workersMax: deletesAtOnceMax,
      handle: (key) => this.#reconcile(key),
      onFault: (key, error) => {
        options.decisions.note(lookFailed('pod eviction', key, error));
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Deletes what waits now; for whoever has no loop running. */
  drain(): Promise<void> {
    return this.#loop.drain();
  }

  /** This pod is to go. Asking again changes nothing: it waits for its turn, or for the end of its back-off. */
  add(pod: PodView, why: DepartureReason): void {
    const key = podKey(pod);
    if (this.#tasks.get(key)?.uid === pod.uid) return;
    this.#tasks.set(key, { uid: pod.uid, why, reasonTried: false, announced: false });
    this.#loop.add(key);
  }

  /** The pod is gone: a namesake is another pod. */
  forget(pod: PodView): void {
    if (this.#tasks.get(podKey(pod))?.uid === pod.uid) this.#tasks.delete(podKey(pod));
  }

  /** What becomes of this pod if its node is evicted. */
  fateOf(pod: PodView): PodFate {
    return decidePodFate(pod, this.#options.daemonSets.byIndex(daemonSetsByNamespace, pod.namespace));
  }

  async #reconcile(key: string): Promise<Outcome> {
    const task = this.#tasks.get(key);
    const pod = this.#options.pods.get(key);
    if (task === undefined) return forget;
    if (pod === undefined || pod.uid !== task.uid || !this.#options.wanted(pod)) return this.#drop(key, task);
    if (this.#options.isHeld()) return { next: 'look-again', afterMs: holdLookAgainMs };
    const hasReason = task.reasonTried || pod.reason === nodeLostReason;
    return hasReason ? this.#depart(pod, task) : this.#tellReason(pod, task);
  }

  /** People should find the reason in what is left of the pod, but a status that cannot be written keeps nobody here. */
  async #tellReason(pod: PodView, task: Task): Promise<Outcome> {
    const outcome = await this.#options.writer.carryOut({ kind: 'mark-pod-lost', pod });
    if (outcome.result === 'gone' || outcome.result === 'not-leader') return this.#drop(podKey(pod), task);
    task.reasonTried = true;
    return { next: 'look-again', afterMs: 0 };
  }

  async #depart(pod: PodView, task: Task): Promise<Outcome> {
    const fate = this.fateOf(pod);
    if (fate.fate !== 'leaves') return this.#stay(pod, task, fate);
    if (!task.announced) this.#options.recorder.record(nodeControllerEviction(pod));
    task.announced = true;
    return this.#after(pod, task, await this.#options.writer.carryOut({ kind: 'delete-pod', pod }));
  }

  #stay(pod: PodView, task: Task, fate: Exclude<PodFate, { fate: 'leaves' }>): Outcome {
    const key = podKey(pod);
    if (fate.fate === 'spared') {
      this.#options.decisions.note({ kind: 'pod-spared', pod: key, node: pod.nodeName, daemonSet: fate.daemonSet });
    }
    return this.#drop(key, task);
  }

  #after(pod: PodView, task: Task, outcome: WriteOutcome): Outcome {
    const key = podKey(pod);
    if (outcome.result === 'failed') return backOffAtLeast(outcome.retryAfterMs);
    if (outcome.result !== 'written') return this.#drop(key, task);
    // The task stays until the pod is gone, so that asking again does not delete it again.
    this.#options.decisions.note({ kind: 'pod-evicted-with-node', pod: key, node: pod.nodeName, why: task.why });
    return forget;
  }

  /** Nothing more to do for this one. A namesake that took its place meanwhile waits for a turn of its own. */
  #drop(key: string, task: Task): Outcome {
    if (this.#tasks.get(key) === task) this.#tasks.delete(key);
    return forget;
  }
}
