import type { Pod } from '../api/pod.ts';
import type { ContainerRecord } from './runtime/derive-container-record.ts';

/** Used where neither the delete nor the pod's spec says (core/v1 `DefaultTerminationGracePeriodSeconds`). */
const graceSecondsDefault = 30;

/** What a kubelet does next about one pod. `rest`: nothing until something changes. */
export type PodWork = 'start' | 'stop' | 'finish' | 'forget' | 'rest';

export interface PodSituation {
  readonly pod: Pod;
  /** It is no longer among the pods bound to this node: deleted by force, or finished. */
  readonly gone: boolean;
  /** Undefined when the runtime was never asked to start it. */
  readonly containers: readonly ContainerRecord[] | undefined;
}

/**
 * A bound pod runs; a terminating one is stopped and then finished; one that is gone is stopped and then forgotten; one
 * whose phase is terminal is never started (kubelet `podWorkers`, without restarts).
 */
export function decidePodWork({ pod, gone, containers }: PodSituation): PodWork {
  const active = containers?.some((container) => container.state !== 'exited') === true;
  if (gone) return active ? 'stop' : 'forget';
  if (isTerminating(pod) || isTerminal(pod.status?.phase)) return active ? 'stop' : 'finish';
  return containers === undefined ? 'start' : 'rest';
}

/** How long the containers get: what the delete said, or else the pod itself. */
export function deriveGraceMs(pod: Pod): number {
  const seconds = pod.metadata.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds;
  return (seconds ?? graceSecondsDefault) * 1_000;
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionTimestamp !== null;
}

/** Succeeded and Failed are for good. */
export function isTerminal(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}
