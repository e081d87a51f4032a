// What the rules of the stages would say if something were otherwise. The same functions that decide are asked, so that
// an explanation cannot drift from what is done.
import type { ControllerOptions } from './options.ts';
import { decidePodEviction, type NodeStanding } from './pod-eviction/decide-pod-eviction.ts';
import { classifyZone, type ZoneTally } from './zones/classify-zone.ts';
import { planRates } from './zones/plan-rates.ts';

/** How many unready nodes of this zone would have to become ready for it to be normal; undefined if it is. */
export function deriveRecoveriesToNormal(tally: ZoneTally, unhealthyZoneThreshold: number): number | undefined {
  for (let recovered = 0; recovered <= tally.unready; recovered++) {
    const after = { ready: tally.ready + recovered, unready: tally.unready - recovered };
    if (classifyZone(after, unhealthyZoneThreshold) === 'normal') return recovered === 0 ? undefined : recovered;
  }
  return undefined;
}

/** Turns a second in this zone if one of its ready nodes became unready, and nothing else changed. */
export function deriveRateAfterLoss(
  zone: string,
  tallies: ReadonlyMap<string, ZoneTally>,
  options: ControllerOptions,
): number {
  const tally = tallies.get(zone) ?? { ready: 1, unready: 0 };
  const after = { ready: Math.max(0, tally.ready - 1), unready: tally.unready + 1 };
  const plan = planRates(new Map([...tallies, [zone, after]]), options);
  return plan.zones.find((planned) => planned.zone === zone)?.ratePerSecond ?? options.nodeEvictionRate;
}

export interface EvictionTimes {
  readonly timeoutMs: number;
  /** When it will be called silent if nothing is heard of it. */
  readonly silentFromMs: number;
  readonly nowMs: number;
}

/**
 * When this node's time in eviction mode is up, if it goes on saying False or else is never heard again. All times are on
 * health's clock.
 */
export function deriveEvictionDueMs(node: NodeStanding, { timeoutMs, silentFromMs, nowMs }: EvictionTimes): number {
  const ready = node.ready === 'False' ? 'False' : 'Unknown';
  const decision = decidePodEviction({ ...node, ready }, timeoutMs, nowMs);
  const dueMs = decision.kind === 'wait' ? decision.fromMs : nowMs;
  return node.ready === ready ? dueMs : Math.max(dueMs, silentFromMs);
}
