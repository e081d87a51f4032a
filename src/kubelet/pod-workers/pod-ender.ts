import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { PodVerdict } from '../machine/pod-verdict.ts';
import { exceededGracePeriod } from './events.ts';
import { StepFailure } from './pod-work.ts';
import type { PodWorkers } from './pod-workers.ts';

/** Nobody gives up waiting for a pod's end sooner. */
const waitMsMin = 10_000;
const waitShare = 1.5;

export interface PodEnderOptions {
  readonly workers: Pick<PodWorkers, 'update'>;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
}

/** Ends a pod because the kubelet itself wants that: for an eviction, or for a shutdown (kubelet `killPodNow`). */
export class PodEnder {
  readonly #options: PodEnderOptions;

  constructor(options: PodEnderOptions) {
    this.#options = options;
  }

  /**
   * Resolves when nothing of the pod runs any more, or when the signal aborts. Rejects with a StepFailure when that takes
   * half as long again as the grace period, but at least 10 s; the pod goes on ending.
   */
  async end(pod: Pod, verdict: PodVerdict, signal: AbortSignal): Promise<void> {
    const { workers, clock, recorder } = this.#options;
    const { reason, message, condition, graceMs, evicted } = verdict;
    const ended = new AbortController();
    const done = (): void => {
      ended.abort();
    };
    workers.update({
      kind: 'kill',
      pod,
      kill: {
        ...(graceMs === undefined ? {} : { graceMs }),
        end: { phase: 'Failed', reason, message, condition },
        evicted,
        done,
      },
    });
    const periodMs = graceMs ?? (pod.spec?.terminationGracePeriodSeconds ?? 0) * 1_000;
    await clock.sleep(Math.max(waitMsMin, periodMs * waitShare), AbortSignal.any([ended.signal, signal]));
    if (ended.signal.aborted || signal.aborted) return;
    recorder.record(exceededGracePeriod(pod));
    throw new StepFailure(`timeout waiting to kill pod`);
  }
}
