import { podKey, type PodView } from '../../machinery/api/pod.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import { forget, WorkQueue } from '../../machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../machinery/supervision/work-loop.ts';
import type { PodSource } from '../model/commands.ts';
import { evaluationFailed, type DecisionSink } from '../model/decisions.ts';

/** Taints and tolerations that are compared at once for a node: a millisecond. */
const comparedAtOnceMax = 4_000;
/** Pods that are evaluated in a row otherwise: some milliseconds, if each has as many tolerations as are used. */
const podsInARow = 8;

interface PodEvaluationsOptions {
  readonly pods: PodSource;
  readonly decisions: DecisionSink;
  readonly clock: Clock;
  /** Evaluates a pod from current state. */
  readonly evaluate: (pod: PodView) => void;
}

/** Pods whose node has more than is evaluated at once: each is evaluated later, from the state of that time. */
export class PodEvaluations {
  readonly #options: PodEvaluationsOptions;
  readonly #queue = new WorkQueue();
  readonly #loop: WorkLoop;

  constructor(options: PodEvaluationsOptions) {
    const { decisions, clock } = options;
    this.#options = options;
    this.#loop = new WorkLoop({
      queue: this.#queue,
      clock,
      workersMax: 1,
      keysInARow: podsInARow,
      handle: (key) => {
        this.#evaluate(key);
        return Promise.resolve(forget);
      },
      onFault: (key, error) => {
        decisions.note(evaluationFailed('taint eviction', key, error));
      },
    });
  }

  /** Whether the pods of a node with so many taints may be evaluated in a row; otherwise they are queued. */
  mayEvaluateNow(pods: readonly PodView[], taints: number): boolean {
    const compared = pods.reduce((sum, { tolerations }) => sum + taints + tolerations.length, 0);
    if (compared <= comparedAtOnceMax) return true;
    for (const pod of pods) this.#loop.add(podKey(pod));
    return false;
  }

  /** Evaluates this pod (`namespace/name`) now if it is queued: to be called before a request for it. */
  catchUp(key: string): void {
    if (this.#queue.remove(key)) this.#evaluate(key);
  }

  #evaluate(key: string): void {
    const { pods, evaluate } = this.#options;
    const pod = pods.get(key);
    if (pod !== undefined) evaluate(pod);
  }

  get size(): number {
    return this.#queue.remembered;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  /** Evaluates all that are queued, without a running loop. */
  drain(): Promise<void> {
    return this.#loop.drain();
  }
}
