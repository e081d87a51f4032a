import type { Pod } from '../../../machinery/api/pod.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { PodTermination } from '../machine/pod-termination.ts';
import { exceededGracePeriod } from '../pod-config/events.ts';
import { StepFailure } from './pod-work.ts';
import type { PodWorkers } from './pod-workers.ts';

/** Minimum time to wait for a pod to be killed. */
const waitMsMin = 10_000;
const waitShare = 1.5;

/**
 * Kills a pod on the kubelet's own decision: an eviction or a shutdown (kubelet `killPodNow`). Resolves when nothing of
 * the pod runs any more, or when the signal aborts. Rejects with a StepFailure when that takes longer than 1.5 times the
 * grace period, at least 10 s; the termination continues.
 */
export async function terminatePod(
  { workers, clock, recorder }: { workers: Pick<PodWorkers, 'update'>; clock: Clock; recorder: EventRecorder },
  pod: Pod,
  { reason, message, graceMs, evicted }: PodTermination,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const condition = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message };
  const end = { phase: 'Failed', reason, message, condition } as const;
  const kill = { ...(graceMs === undefined ? {} : { graceMs }), end, evicted, done: () => ended.abort() };
  workers.update({ kind: 'kill', pod, kill });
  const periodMs = graceMs ?? (pod.spec?.terminationGracePeriodSeconds ?? 0) * 1_000;
  await clock.sleep(Math.max(waitMsMin, periodMs * waitShare), AbortSignal.any([ended.signal, signal]));
  if (ended.signal.aborted || signal.aborted) return;
  recorder.record(exceededGracePeriod(pod));
  throw new StepFailure(`timeout waiting to kill pod`);
}
