import type { Pod } from '../../../machinery/api/pod.ts';
import { formatBinary, parseQuantity } from '../../../machinery/api/quantity.ts';

/** The three conditions of resources that a kubelet reports. */
export type PressureType = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** Resource that a machine reports as available (kubelet `eviction/api.Signal`). */
export type EvictionSignal = 'memory.available' | 'nodefs.available';

/** One signal at one time, in bytes. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
}

export type Observations = ReadonlyMap<EvictionSignal, Observation>;

/** The kubelet evicts at once while the signal is below a limit. */
export interface Threshold {
  readonly signal: EvictionSignal;
  readonly condition: PressureType;
  /** The resource that is short, as in messages and requests. */
  readonly resource: 'memory' | 'ephemeral-storage';
  readonly limitOf: (capacity: number) => number;
}

const memoryBytesMin = 100 * 1_024 * 1_024;
const diskShareMin = 0.1;

/** Defaults of the kubelet (`evictionHard`), memory first: it is relieved first (kubelet `byEvictionPriority`). */
const thresholds: readonly Threshold[] = [
  {
    signal: 'memory.available',
    condition: 'MemoryPressure',
    resource: 'memory',
    limitOf: () => memoryBytesMin,
  },
  {
    signal: 'nodefs.available',
    condition: 'DiskPressure',
    resource: 'ephemeral-storage',
    limitOf: (capacity) => Math.trunc(capacity * diskShareMin),
  },
];

/** Monotonic times at which the conditions were last observed. */
export type HeldConditions = ReadonlyMap<PressureType, number>;

interface EvictionInput {
  /** As the last pass returned them. */
  readonly held: HeldConditions;
  readonly observations: Observations;
  /** Monotonic. */
  readonly nowMs: number;
  /** A condition is reported for this long after it was last observed. */
  readonly holdMs: number;
}

interface EvictionPass {
  /** The conditions to report, in the order of their first observation. */
  readonly held: HeldConditions;
  /** The thresholds to act on, most urgent first. */
  readonly pressing: readonly Threshold[];
  /** Monotonic time from which another pass could have a different result with the same signals; undefined: never. */
  readonly dueAtMs: number | undefined;
}

/** One evaluation of the signals (kubelet eviction manager, `synchronize`). */
export function planEvictionPass({ held: before, observations, nowMs, holdMs }: EvictionInput): EvictionPass {
  const pressing = thresholds.filter((threshold) => isMet(threshold, observations));
  const times = new Map(before);
  for (const { condition } of pressing) times.set(condition, nowMs);
  const held = new Map([...times].filter(([, atMs]) => nowMs - atMs < holdMs));
  const endsAtMs = held.size === 0 ? undefined : Math.min(...held.values()) + holdMs;
  return { held, pressing, dueAtMs: pressing.length > 0 ? nowMs : endsAtMs };
}

/** Strictly below the limit (kubelet `thresholdsMet`). */
function isMet({ signal, limitOf }: Threshold, observations: Observations): boolean {
  const observation = observations.get(signal);
  return observation !== undefined && observation.available < limitOf(observation.capacity);
}

/**
 * The pods in the order in which they are evicted when a resource is short: by ascending priority, then those with the
 * smallest requests. Hollow pods use nothing, so none is above its requests (kubelet `rankMemoryPressure`,
 * `rankDiskPressureFunc`).
 */
export function planEvictionOrder(pods: readonly Pod[], resource: Threshold['resource']): readonly Pod[] {
  const weighed = pods.map((pod) => ({
    pod,
    priority: pod.spec?.priority ?? 0,
    requested: requestedOf(pod, resource),
  }));
  return weighed.toSorted((a, b) => a.priority - b.priority || a.requested - b.requested).map(({ pod }) => pod);
}

function requestedOf(pod: Pod, resource: Threshold['resource']): number {
  const requests = (pod.spec?.containers ?? []).map(({ resources }) => resources?.requests?.[resource] ?? '0');
  return requests.reduce((sum, request) => sum + (parseQuantity(request) ?? 0), 0);
}

/** Eviction message: the resource that was low, and by how much (kubelet `evictionMessage`). */
export function describeEviction({ signal, resource, limitOf }: Threshold, observations: Observations): string {
  const { available = 0, capacity = 0 } = observations.get(signal) ?? {};
  const limit = formatBinary(limitOf(capacity));
  return `The node was low on resource: ${resource}. Threshold quantity: ${limit}, available: ${formatBinary(available)}. `;
}
