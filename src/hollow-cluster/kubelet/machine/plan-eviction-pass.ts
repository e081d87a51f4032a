import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { formatBinary, formatDecimal, parseQuantity } from '../../../machinery/api/quantity.ts';
import { classifySignal, type EvictionSignal, type PressureType, type SignalClass } from './classify-signal.ts';
import { amountOf, type Threshold } from './parse-thresholds.ts';

/** One signal at one time. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
  /** Monotonic time of the measurement. */
  readonly atMs: number;
}

export type Observations = ReadonlyMap<EvictionSignal, Observation>;

/** State that one pass leaves for the next. */
export interface EvictionMemory {
  /** Thresholds that are met and whose grace periods have elapsed. */
  readonly met: readonly Threshold[];
  readonly firstObservedAtMs: ReadonlyMap<Threshold, number>;
  readonly lastObservedAtMs: ReadonlyMap<PressureType, number>;
  readonly observations: Observations;
}

export const nothingObserved: EvictionMemory = {
  met: [],
  firstObservedAtMs: new Map(),
  lastObservedAtMs: new Map(),
  observations: new Map(),
};

interface EvictionInput {
  readonly thresholds: readonly Threshold[];
  readonly memory: EvictionMemory;
  readonly observations: Observations;
  /** Monotonic. */
  readonly nowMs: number;
  /** A condition is reported for this long after it was last observed. */
  readonly holdMs: number;
}

interface EvictionPass {
  readonly memory: EvictionMemory;
  /** The conditions to report, in the order of their first observation. */
  readonly conditions: readonly PressureType[];
  /** The thresholds to act on, most urgent first. */
  readonly pressing: readonly Threshold[];
  /** Monotonic time from which another pass could have a different result with the same signals; undefined: never. */
  readonly dueAtMs: number | undefined;
}

/**
 * One evaluation of the signals (kubelet eviction manager, `synchronize`). A soft threshold sets its condition at once:
 * its grace period only delays the eviction. A condition stays for the hold after its cause is gone.
 */
export function planEvictionPass(input: EvictionInput): EvictionPass {
  const { thresholds, memory, observations, nowMs, holdMs } = input;
  const below = thresholds.filter((threshold) => isMet(threshold, observations, false));
  const unresolved = memory.met.filter((threshold) => isMet(threshold, observations, true));
  const observed = [...new Set([...below, ...unresolved])];
  const firstObservedAtMs = new Map(observed.map((one) => [one, memory.firstObservedAtMs.get(one) ?? nowMs]));
  const lastObservedAtMs = stillHeld(memory.lastObservedAtMs, observed, nowMs, holdMs);
  const met = observed.filter((one) => nowMs - (firstObservedAtMs.get(one) ?? nowMs) >= one.graceMs);
  // If no threshold is met and no condition is held, the next pass needs no state.
  const isQuiet = observed.length === 0 && lastObservedAtMs.size === 0;
  return {
    memory: isQuiet ? nothingObserved : { met, firstObservedAtMs, lastObservedAtMs, observations },
    conditions: [...lastObservedAtMs.keys()],
    pressing: urgentFirst(met.filter((one) => isFresh(one.signal, observations, memory.observations))),
    dueAtMs: observed.length > 0 ? nowMs : earliestEnd(lastObservedAtMs, holdMs),
  };
}

/**
 * True if the signal is strictly below its threshold, or below it plus the minimum reclaim (kubelet `thresholdsMet`).
 */
export function isMet(
  { signal, limit, minReclaim }: Threshold,
  observations: Observations,
  reclaimed: boolean,
): boolean {
  const observation = observations.get(signal);
  if (observation === undefined) return false;
  const { available, capacity } = observation;
  const extra = reclaimed && minReclaim !== undefined ? amountOf(minReclaim, capacity) : 0;
  return available < amountOf(limit, capacity) + extra;
}

function stillHeld(
  before: ReadonlyMap<PressureType, number>,
  observed: readonly Threshold[],
  nowMs: number,
  holdMs: number,
): ReadonlyMap<PressureType, number> {
  const times = new Map(before);
  for (const { signal } of observed) times.set(classifySignal(signal).condition, nowMs);
  return new Map([...times].filter(([, atMs]) => nowMs - atMs < holdMs));
}

/** A measurement is acted on only once (kubelet `thresholdsUpdatedStats`). */
function isFresh(signal: EvictionSignal, now: Observations, before: Observations): boolean {
  const last = before.get(signal);
  return last === undefined || (now.get(signal)?.atMs ?? 0) > last.atMs;
}

/** Memory first (kubelet `byEvictionPriority`). */
function urgentFirst(thresholds: readonly Threshold[]): readonly Threshold[] {
  const isMemory = ({ signal }: Threshold): boolean => classifySignal(signal).resource === 'memory';
  return [...thresholds.filter(isMemory), ...thresholds.filter((threshold) => !isMemory(threshold))];
}

function earliestEnd(times: ReadonlyMap<PressureType, number>, holdMs: number): number | undefined {
  return times.size === 0 ? undefined : Math.min(...times.values()) + holdMs;
}

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

type Resource = SignalClass['resource'];

interface EvictionFacts {
  readonly pod: Pod;
  readonly resource: Resource;
  /** The thresholds to act on. */
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  readonly usage: PodUsage | undefined;
}

interface EvictionTexts {
  readonly message: string;
  /** Annotations of the Event. */
  readonly annotations: Readonly<Record<string, string>>;
}

interface Offender {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

/**
 * Eviction message: the resource that was low, by how much, and which containers exceeded their requests (kubelet
 * `evictionMessage`).
 */
export function describeEviction(facts: EvictionFacts): EvictionTexts {
  const { resource } = facts;
  const offenders = findOffenders(facts);
  const containerTexts = offenders.map(
    ({ name, usage, request }) =>
      `Container ${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `,
  );
  return {
    message: `The node was low on resource: ${resource}. ${describeThreshold(facts)}${containerTexts.join('')}`,
    annotations: {
      offending_containers: offenders.map(({ name }) => name).join(','),
      offending_containers_usage: offenders.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  };
}

function describeThreshold({ resource, thresholds, observations }: EvictionFacts): string {
  const threshold = thresholds.find(({ signal }) => classifySignal(signal).resource === resource);
  const observation = threshold === undefined ? undefined : observations.get(threshold.signal);
  if (threshold === undefined || observation === undefined) return '';
  const quantity = amountOf(threshold.limit, observation.capacity);
  const format = resource === 'inodes' || resource === 'pids' ? formatDecimal : formatBinary;
  return `Threshold quantity: ${formatBinary(quantity)}, available: ${format(observation.available)}. `;
}

function findOffenders({ pod, resource, usage = {} }: EvictionFacts): readonly Offender[] {
  if (resource !== 'memory' && resource !== 'ephemeral-storage') return [];
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers.flatMap(({ name, resources }) => {
    const used = ownValue(usage, name)?.[resource] ?? 0;
    const request = resources?.requests?.[resource] ?? '0';
    return used > (parseQuantity(request) ?? 0) ? [{ name, usage: formatBinary(used), request }] : [];
  });
}
