import { classifySignal, type EvictionSignal, type PressureType } from './classify-signal.ts';
import { deriveAmount, type Threshold } from './derive-thresholds.ts';

/** One signal at one moment. */
export interface Observation {
  readonly available: number;
  readonly capacity: number;
  /** Monotonic time of the measurement. */
  readonly atMs: number;
}

export type Observations = ReadonlyMap<EvictionSignal, Observation>;

/** What one pass leaves for the next. */
export interface EvictionMemory {
  /** Met, with their grace periods over. */
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

export interface EvictionQuestion {
  readonly thresholds: readonly Threshold[];
  readonly memory: EvictionMemory;
  readonly observations: Observations;
  /** Monotonic. */
  readonly nowMs: number;
  /** A condition is reported for this long after it was last observed. */
  readonly holdMs: number;
}

export interface EvictionPass {
  readonly memory: EvictionMemory;
  /** To be reported now, in the order of their first appearance. */
  readonly conditions: readonly PressureType[];
  /** The thresholds that call for action, the most urgent first. */
  readonly pressing: readonly Threshold[];
  /** Monotonic time from which another pass could come out otherwise with the same signals; undefined: never. */
  readonly dueAtMs: number | undefined;
}

/**
 * One look at the signals (kubelet eviction manager, `synchronize`). A soft threshold sets its condition at once: its
 * grace period only delays the eviction. A condition outlives its cause by the hold.
 */
export function deriveEvictionPass(question: EvictionQuestion): EvictionPass {
  const { thresholds, memory, observations, nowMs, holdMs } = question;
  const below = thresholds.filter((threshold) => isMet(threshold, observations, false));
  const unresolved = memory.met.filter((threshold) => isMet(threshold, observations, true));
  const observed = [...new Set([...below, ...unresolved])];
  const firstObservedAtMs = new Map(observed.map((one) => [one, memory.firstObservedAtMs.get(one) ?? nowMs]));
  const lastObservedAtMs = stillHeld(memory.lastObservedAtMs, observed, nowMs, holdMs);
  const met = observed.filter((one) => nowMs - (firstObservedAtMs.get(one) ?? nowMs) >= one.graceMs);
  // A measurement at which nothing was low cannot be acted upon later: there is nothing to remember of it.
  const isQuiet = observed.length === 0 && lastObservedAtMs.size === 0;
  return {
    memory: isQuiet ? nothingObserved : { met, firstObservedAtMs, lastObservedAtMs, observations },
    conditions: [...lastObservedAtMs.keys()],
    pressing: urgentFirst(met.filter((one) => isFresh(one.signal, observations, memory.observations))),
    dueAtMs: observed.length > 0 ? nowMs : earliestEnd(lastObservedAtMs, holdMs),
  };
}

/** Is the signal strictly below its threshold, or below that and what has to be reclaimed? (kubelet `thresholdsMet`) */
function isMet({ signal, limit, minReclaim }: Threshold, observations: Observations, reclaimed: boolean): boolean {
  const observation = observations.get(signal);
  if (observation === undefined) return false;
  const { available, capacity } = observation;
  const extra = reclaimed && minReclaim !== undefined ? deriveAmount(minReclaim, capacity) : 0;
  return available < deriveAmount(limit, capacity) + extra;
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

/** A measurement that was acted upon once says nothing new (kubelet `thresholdsUpdatedStats`). */
function isFresh(signal: EvictionSignal, now: Observations, before: Observations): boolean {
  const last = before.get(signal);
  return last === undefined || (now.get(signal)?.atMs ?? 0) > last.atMs;
}

/** Memory before everything else (kubelet `byEvictionPriority`). */
function urgentFirst(thresholds: readonly Threshold[]): readonly Threshold[] {
  const isMemory = ({ signal }: Threshold): boolean => classifySignal(signal).resource === 'memory';
  return [...thresholds.filter(isMemory), ...thresholds.filter((threshold) => !isMemory(threshold))];
}

function earliestEnd(times: ReadonlyMap<PressureType, number>, holdMs: number): number | undefined {
  return times.size === 0 ? undefined : Math.min(...times.values()) + holdMs;
}
