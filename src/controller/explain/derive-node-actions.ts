// What this process is going to do about a node, if it leads: in no order, each with its time.
import { sameTaint, type Taint } from '../../api/taints.ts';
import type { EvictionForecast } from './derive-eviction-forecast.ts';
import { deriveNodeHolds } from './derive-holds.ts';
import type { Action } from './derive-next-action.ts';
import type { NodeForecast } from './derive-node-forecast.ts';
import type { Circumstances, Moment, NodeFacts } from './facts.ts';

export interface Forecasts {
  readonly node: NodeForecast;
  /** Soonest first. */
  readonly evictions: readonly EvictionForecast[];
}

/** What is done about a node, and to its pods; only the leader does anything. */
export function deriveNodeActions(
  facts: NodeFacts,
  { node, evictions }: Forecasts,
  circumstances: Circumstances,
): readonly Action[] {
  if (!circumstances.leading) return [];
  const lifecycle = circumstances.runs.nodeLifecycle ? lifecycleActions(facts, node, circumstances) : [];
  return [...lifecycle, ...evictionActions(evictions)];
}

function lifecycleActions(
  facts: NodeFacts,
  { taint, eviction }: NodeForecast,
  circumstances: Circumstances,
): readonly Action[] {
  const actions: Action[] = [...correctionsOf(facts, circumstances.now), ...markingOf(facts, circumstances)];
  if (facts.taints.rationedKey !== undefined && taint !== undefined) {
    const { key, given, atMs } = taint;
    actions.push({ act: 'add-taint', subject: `${key}:NoExecute`, given, atMs });
  }
  if (eviction !== undefined && eviction.mark !== 'evicted') {
    actions.push({ act: 'evict-node', subject: null, given: eviction.given, atMs: eviction.atMs });
  }
  return actions;
}

function evictionActions(evictions: readonly EvictionForecast[]): readonly Action[] {
  const scheduled = evictions.find(({ state }) => state === 'scheduled');
  if (scheduled === undefined) return [];
  const { pod, given, atMs } = scheduled;
  return [{ act: 'evict-pod', subject: pod, given, atMs }];
}

function markingOf(facts: NodeFacts, { now, blind }: Circumstances): readonly Action[] {
  const { ready, health } = facts;
  if (health === undefined || ready === 'Unknown') return [];
  const held = blind !== undefined || deriveNodeHolds(facts).length > 0;
  const atMs = held ? Infinity : Math.max(health.silentFromMs, now.monotonicMs);
  return [{ act: 'mark-unknown', subject: null, given: 'nothing-heard', atMs }];
}

/** Taints that wait for nobody's turn: they are put right at once. */
function correctionsOf({ taints }: NodeFacts, { monotonicMs }: Moment): readonly Action[] {
  const { carried, wanted, surplus, rationedKey } = taints;
  const isRationed = ({ key, effect }: Taint): boolean => effect === 'NoExecute' && key === rationedKey;
  const missing = wanted.filter((taint) => !isRationed(taint) && !carried.some((other) => sameTaint(taint, other)));
  if (missing.length + surplus.length === 0) return [];
  const subject = [...missing.map(signed('+')), ...surplus.map(signed('-'))].join(' ');
  return [{ act: 'change-taints', subject, given: 'nothing-changes', atMs: monotonicMs }];
}

function signed(sign: string): (taint: Taint) => string {
  return ({ key, effect }) => `${sign}${key}:${effect}`;
}
