import type { Pod } from '../../../machinery/api/pod.ts';
import { parseQuantity } from '../../../machinery/api/quantity.ts';
import type { SignalClass } from './classify-signal.ts';

/** Usage of each container of a pod: bytes of `memory` and `ephemeral-storage`, `inodes`, `pids`. */
export type PodUsage = Readonly<Record<string, Readonly<Partial<Record<SignalClass['resource'], number>>>>>;

interface EvictionCandidate {
  readonly pod: Pod;
  /** Undefined counts as no usage. */
  readonly usage: PodUsage | undefined;
}

/**
 * The pods in the order in which they are evicted when a resource is short: those above their requests first, then by
 * ascending priority, then those furthest above their requests. Process ids have no requests: only priority counts
 * (kubelet `rankMemoryPressure`, `rankDiskPressureFunc`, `rankPIDPressure`).
 */
export function planEvictionOrder(
  candidates: readonly EvictionCandidate[],
  resource: SignalClass['resource'],
): readonly Pod[] {
  const weighed = candidates.map(({ pod, usage }) => ({
    pod,
    priority: pod.spec?.priority ?? 0,
    excess: usedOf(usage, resource) - requestedOf(pod, resource),
  }));
  const exceeds = (excess: number): number => (resource !== 'pids' && excess > 0 ? 1 : 0);
  return weighed
    .toSorted(
      (a, b) => exceeds(b.excess) - exceeds(a.excess) || a.priority - b.priority || Math.sign(b.excess - a.excess),
    )
    .map(({ pod }) => pod);
}

function usedOf(usage: PodUsage | undefined, resource: SignalClass['resource']): number {
  return Object.values(usage ?? {}).reduce((sum, container) => sum + (container[resource] ?? 0), 0);
}

function requestedOf(pod: Pod, resource: SignalClass['resource']): number {
  const containers = (pod.spec?.containers ?? []).map(({ resources }) => amount(resources?.requests?.[resource]));
  return containers.reduce((sum, requested) => sum + requested, 0);
}

function amount(quantity: string | undefined): number {
  return quantity === undefined ? 0 : (parseQuantity(quantity) ?? 0);
}
