// Results of the rules of the stages for hypothetical input. The functions that decide are used, so that an explanation
// always matches the behaviour.
import { zoneLevels } from '../../machinery/api/zone.ts';
import { decidePodEviction, type NodeReadiness } from '../pod-eviction-mode/decide-pod-eviction.ts';
import { classifyZone, type ZoneTally, planRates, type RateOptions } from '../zones/plan-rates.ts';

/** How many unready nodes of this zone would have to become ready for it to be normal; undefined if it is. */
export function estimateRecoveriesToNormal(tally: ZoneTally, unhealthyZoneThreshold: number): number | undefined {
  for (let recovered = 0; recovered <= tally.unready; recovered++) {
    const after = { ready: tally.ready + recovered, unready: tally.unready - recovered };
    if (classifyZone(after, unhealthyZoneThreshold) === 'normal') return recovered === 0 ? undefined : recovered;
  }
  return undefined;
}

/** Evictions per second in this zone, as far as its outer zone allows, if one of its ready nodes became unready and nothing else changed. */
export function estimateRateAfterLoss(
  zone: string,
  tallies: ReadonlyMap<string, ZoneTally>,
  optionsOf: (zone: string) => RateOptions,
): number {
  const levels = zoneLevels(zone);
  const after = levels.map((level) => [level, afterLoss(tallies.get(level))] as const);
  const plan = planRates(new Map([...tallies, ...after]), optionsOf);
  const rates = levels.map((level) => plan.zones.find((planned) => planned.zone === level)?.ratePerSecond);
  return Math.min(...rates.map((rate) => rate ?? optionsOf(zone).nodeEvictionRate));
}

function afterLoss({ ready, unready }: ZoneTally = { ready: 1, unready: 0 }): ZoneTally {
  return { ready: Math.max(0, ready - 1), unready: unready + 1 };
}

interface EvictionTimes {
  readonly timeoutMs: number;
  /** Time at which the node becomes silent without a further heartbeat. */
  readonly silentFromMs: number;
  readonly nowMs: number;
}

/**
 * When the eviction mode timeout of this node ends if it stays Ready=False, or else without a further heartbeat. All
 * times are on the health clock.
 */
export function estimateEvictionDueMs(node: NodeReadiness, { timeoutMs, silentFromMs, nowMs }: EvictionTimes): number {
  const ready = node.ready === 'False' ? 'False' : 'Unknown';
  const decision = decidePodEviction({ ...node, ready }, timeoutMs, nowMs);
  const dueMs = decision.kind === 'wait' ? decision.fromMs : nowMs;
  return node.ready === ready ? dueMs : Math.max(dueMs, silentFromMs);
}
