import type { Random } from '../../machinery/ports/random.ts';
import { oneOf } from '../draw.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

/** Slow, so that the gap between two taints is long compared with the tolerance of the check. */
const rates = [0.1, 0.125] as const;
const changeMs = 3_000;
/** From before the first of the nodes may become Unknown until the second one has waited for its token. */
const beforeMs = 12_000;
const afterMs = 15_000;
/** The second taint, at the last rate. */
const lastTaintMs = 25_000;

/**
 * The rate of NoExecute taints changes every few seconds while two nodes of one zone become silent: between the two
 * taints it changes at least once, right after the only token was spent.
 */
export function planRateChange(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = twoOfOneZone(random, cluster);
  if (names === undefined) return undefined;
  const { graceMs } = cluster;
  const untilMs = graceMs + afterMs;
  const durationMs = untilMs + lastTaintMs + tailMs;
  const count = Math.ceil((beforeMs + afterMs) / changeMs);
  // Each change lasts to the end: the latest one is in force.
  const changes = Array.from({ length: count }, (_, index): PlannedFault => {
    const change = { nodeEvictionRate: rates[index % rates.length] ?? rates[0] };
    return { atMs: graceMs - beforeMs + index * changeMs, forMs: durationMs, fault: { kind: 'settings', change } };
  });
  const acts = [...changes, silenceOf(names, 100, durationMs)];
  return { name: 'rate-change', acts, durationMs, stuck: [], ratesUntilMs: untilMs };
}

/** Two nodes of a zone that is not disrupted without them. */
export function twoOfOneZone(random: Random, { nodes, silentIn }: DrillCluster): readonly string[] | undefined {
  const zones = [...Map.groupBy(nodes, ({ zone }) => zone)].filter(
    ([zone, members]) => members.length >= 3 && (silentIn.get(zone) ?? 0) === 0,
  );
  if (zones.length === 0) return undefined;
  const [, members] = oneOf(random, zones);
  return members.slice(0, 2).map(({ name }) => name);
}
