// Decides from the recoveries of a node whether it flaps, and for how long it is kept.
import type { FlappingRule } from '../model/policy.ts';

/** More doublings change nothing: the maximum is below 292 years. */
export const levelMax = 64;

/** The recoveries of a node before the current one. Times are on the monotonic clock. */
interface Recoveries {
  /** Times of the recoveries, oldest first. */
  readonly atMs: readonly number[];
  /** The level of the last recovery; 0: it did not flap. */
  readonly level: number;
  /** The node still has the taint after an earlier recovery. */
  readonly isTainted: boolean;
}

/** How many of these recoveries are within the window. */
export function countRecoveries(atMs: readonly number[], { withinMs }: FlappingRule, nowMs: number): number {
  return atMs.filter((recoveredAtMs) => nowMs - recoveredAtMs <= withinMs).length;
}

/** Whether a node that flapped still does: it is kept, or recovered within the window. */
export function isStillFlapping({ atMs, level, isTainted }: Recoveries, rule: FlappingRule, nowMs: number): boolean {
  return level > 0 && (isTainted || countRecoveries(atMs.slice(-1), rule, nowMs) > 0);
}

/**
 * The level of a recovery at this time: one more than that of the last one while the node flaps, 1 if it flaps from now on, 0
 * if it does not.
 */
export function decideLevel(before: Recoveries, rule: FlappingRule, nowMs: number): number {
  if (isStillFlapping(before, rule, nowMs)) return Math.min(before.level + 1, levelMax);
  return countRecoveries(before.atMs, rule, nowMs) + 1 >= rule.recoveries ? 1 : 0;
}

/** How long a node is kept after a recovery of this level. */
export function keptForMs(level: number, { initialMs, maxMs }: FlappingRule): number {
  return Math.min(maxMs, initialMs * 2 ** (level - 1));
}

/** How many nodes of a policy with so many nodes may be kept at once. A share is rounded down. */
export function budgetOf({ budget: { percent = 0, count = 0 } }: FlappingRule, nodes: number): number {
  return Math.max(Math.floor((nodes * percent) / 100), count);
}
