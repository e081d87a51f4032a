// In a zone one NoExecute taint follows the other at the rate, which may change in between.
import { isHealthTaint, type Taint } from '../../../src/machinery/api/taints.ts';
import { type EvictionRate, levelsOf } from '../policy-zones.ts';
import type { NodeRecord, NodeState } from './drill-record.ts';

interface FastTaints {
  readonly zone: string;
  readonly beforeMs: number;
  readonly atMs: number;
  /** Tokens that there were in between. */
  readonly tokens: number;
}

/** Pairs of NoExecute taints, in a zone or in an outer one, without a whole token of their zone in between. `earlyMs`: the tolerance. */
export function findFastTaints(
  nodes: Iterable<NodeRecord>,
  ratesOf: (zone: string) => readonly EvictionRate[],
  earlyMs: number,
): readonly FastTaints[] {
  const last = new Map<string, number>();
  return additions(nodes).flatMap(({ zone, atMs }) => {
    const beforeMs = last.get(zone) ?? -Infinity;
    last.set(zone, atMs);
    if (beforeMs === -Infinity) return [];
    const tokens = tokensBetween(ratesOf(zone), beforeMs - earlyMs, atMs);
    return tokens < 1 ? [{ zone, beforeMs, atMs, tokens }] : [];
  });
}

function additions(nodes: Iterable<NodeRecord>): readonly { readonly zone: string; readonly atMs: number }[] {
  const added = [...nodes].flatMap(({ states }) =>
    states.filter((state, index) => {
      const before = states[index - 1];
      const isNew = before !== undefined && noExecuteHealth(before) === '' && noExecuteHealth(state) !== '';
      return isNew && state.byController;
    }),
  );
  const inLevels = added.flatMap(({ zone, atMs }) => levelsOf(zone).map((level) => ({ zone: level, atMs })));
  return inLevels.sort((a, b) => a.atMs - b.atMs);
}

/** The rate, added up over this time. */
export function tokensBetween(rates: readonly EvictionRate[], fromMs: number, untilMs: number): number {
  return rates.reduce((sum, { fromMs: sinceMs, perSecond }, index) => {
    const endMs = Math.min(untilMs, rates[index + 1]?.fromMs ?? Infinity);
    const startMs = index === 0 ? fromMs : Math.max(fromMs, sinceMs);
    return sum + (Math.max(0, endMs - startMs) / 1_000) * perSecond;
  }, 0);
}

/** The keys of the health taints with this effect, without their prefix. */
export function healthTaintsIn({ taints }: Pick<NodeState, 'taints'>, effect: string): string {
  return taints
    .filter((taint) => taint.effect === effect && isHealthTaint(taint))
    .map(shortKey)
    .sort()
    .join(' ');
}

export function noExecuteHealth(state: Pick<NodeState, 'taints'>): string {
  return healthTaintsIn(state, 'NoExecute');
}

export function shortKey({ key }: Taint): string {
  return key.slice(key.indexOf('/') + 1);
}
