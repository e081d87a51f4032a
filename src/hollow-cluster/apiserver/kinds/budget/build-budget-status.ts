/** The status of a PodDisruptionBudget (upstream `pkg/controller/disruption`, `component-helpers/apps/poddisruptionbudget`). */
import { ownValue } from '../../../../machinery/api/json-map.ts';
import { mapAt, type MutableJsonMap, mapsAt, numberAt, textAt } from '../../../../machinery/api/select-field.ts';
import { formatTime, parseTimestamp } from '../../../../machinery/api/timestamps.ts';

interface Budget {
  readonly metadata: { readonly generation?: number };
  readonly [field: string]: unknown;
}

interface BudgetPod {
  readonly name: string;
  readonly isDeleted: boolean;
  readonly isReady: boolean;
}

interface BudgetInput {
  readonly budget: Budget;
  /** The pods that its selector matches. */
  readonly pods: readonly BudgetPod[];
  /** Replicas of the controllers of these pods, or why they cannot be counted. */
  readonly scale: number | { readonly error: string };
  readonly nowMs: number;
}

const conditionType = 'DisruptionAllowed';
/** An evicted pod that still exists after this time counts as available again. */
export const disruptedPodMs = 120_000;

/** Status of a budget. Without changes it equals the stored one, times of conditions included. */
export function buildBudgetStatus(input: BudgetInput): MutableJsonMap {
  const { budget, pods, nowMs } = input;
  const needed = planHealthy(input);
  if ('error' in needed) return failedStatus(budget, needed.error, nowMs);
  const disruptedPods = Object.fromEntries(
    Object.entries(mapAt(budget, 'status', 'disruptedPods')).filter(
      ([name, time]) => isPending(time, nowMs) && pods.some((pod) => pod.name === name && !pod.isDeleted),
    ),
  );
  const currentHealthy = pods.filter(
    ({ name, isDeleted, isReady }) => isReady && !isDeleted && ownValue(disruptedPods, name) === undefined,
  ).length;
  const spare = currentHealthy - needed.desiredHealthy;
  const status = {
    currentHealthy,
    desiredHealthy: needed.desiredHealthy,
    disruptionsAllowed: needed.expectedPods > 0 ? Math.max(spare, 0) : 0,
    expectedPods: needed.expectedPods,
    observedGeneration: budget.metadata.generation ?? 0,
    ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
  };
  return withCondition(budget, status, nowMs);
}

/** The status after one more eviction. */
export function spendDisruption(budget: Budget, podName: string, nowMs: number): MutableJsonMap {
  const status = mapAt(budget, 'status');
  const disruptionsAllowed = numberAt(status, 'disruptionsAllowed') - 1;
  const disruptedPods = { ...mapAt(status, 'disruptedPods'), [podName]: formatTime(nowMs) };
  const spent = { ...status, disruptionsAllowed, disruptedPods };
  return disruptionsAllowed === 0 ? withCondition(budget, spent, nowMs) : spent;
}

function planHealthy({
  budget,
  pods,
  scale,
}: BudgetInput): { readonly desiredHealthy: number; readonly expectedPods: number } | { readonly error: string } {
  const { minAvailable, maxUnavailable } = mapAt(budget, 'spec');
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    // Upstream expects no pods of a budget without a limit, and allows no disruption of them.
    return typeof minAvailable === 'number'
      ? { desiredHealthy: minAvailable, expectedPods: pods.length }
      : { desiredHealthy: 0, expectedPods: 0 };
  }
  if (typeof scale !== 'number') return scale;
  if (maxUnavailable === undefined) return { desiredHealthy: shareOf(minAvailable, scale), expectedPods: scale };
  return { desiredHealthy: Math.max(scale - shareOf(maxUnavailable, scale), 0), expectedPods: scale };
}

/** A number as it is, a percentage rounded up. */
function shareOf(value: unknown, total: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number.parseInt(String(value), 10) * total) / 100);
}

function isPending(time: unknown, nowMs: number): boolean {
  const sinceMs = typeof time === 'string' ? parseTimestamp(time) : undefined;
  return sinceMs !== undefined && sinceMs + disruptedPodMs >= nowMs;
}

function withCondition(budget: Budget, status: MutableJsonMap, nowMs: number): MutableJsonMap {
  const isAllowed = numberAt(status, 'disruptionsAllowed') > 0;
  return setCondition(budget, status, {
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    nowMs,
  });
}

/** Nothing may be evicted while the number of expected pods is unknown. */
function failedStatus(budget: Budget, message: string, nowMs: number): MutableJsonMap {
  const status = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...mapAt(budget, 'status') };
  const none = { ...status, disruptionsAllowed: 0 };
  return setCondition(budget, none, { status: 'False', reason: 'SyncFailed', message, nowMs });
}

interface NewCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly nowMs: number;
}

/** The transition time changes only with the status (upstream `meta.SetStatusCondition`). */
function setCondition(budget: Budget, status: MutableJsonMap, { nowMs, ...condition }: NewCondition): MutableJsonMap {
  const conditions = mapsAt(budget, 'status', 'conditions');
  const known = conditions.find(({ type }) => type === conditionType);
  const isKept = known?.['status'] === condition.status;
  const lastTransitionTime = isKept ? textAt(known, 'lastTransitionTime') : formatTime(nowMs);
  const observedGeneration = numberAt(status, 'observedGeneration');
  const observed = observedGeneration === 0 ? {} : { observedGeneration };
  const updated = { type: conditionType, ...observed, lastTransitionTime, ...condition };
  const place = known === undefined ? conditions.length : conditions.indexOf(known);
  return { ...status, conditions: [...conditions.slice(0, place), updated, ...conditions.slice(place + 1)] };
}
