import { deriveTurnMs, type RateChange } from './derive-turn.ts';
import type { Circumstances, LineFacts, NodeFacts } from './facts.ts';

/** How a node that does not wait yet will get in line. */
export interface Joining {
  readonly atMs: number;
  /** When others get in line ahead of it. */
  readonly beforeMs: readonly number[];
  /** What its own fall does to the zone's rate. */
  readonly change: RateChange | undefined;
}

/** Only the leader acts; while blind or while every zone is dark nobody does; a hold has an end. */
export function deriveFreeAtMs({ leading, blind, everyZoneDark, outageHold }: Circumstances): number {
  if (!leading || everyZoneDark || blind !== undefined) return Infinity;
  return outageHold?.untilMs ?? -Infinity;
}

/** When this node's turn in its zone's line comes; Infinity: not while things are as they are. */
export function deriveNodeTurnMs(
  node: string,
  line: LineFacts,
  joining: Joining,
  circumstances: Circumstances,
): number {
  const notBeforeMs = deriveFreeAtMs(circumstances);
  const ahead = line.nodes.indexOf(node);
  const arrivedMs = (nodes: readonly string[]): readonly number[] => nodes.map(() => -Infinity);
  if (ahead >= 0) {
    return deriveTurnMs(line, arrivedMs(line.nodes.slice(0, ahead + 1)), { notBeforeMs, change: undefined });
  }
  const arrivalsMs = [...arrivedMs(line.nodes), ...joining.beforeMs, joining.atMs];
  return deriveTurnMs(line, arrivalsMs, { notBeforeMs, change: joining.change });
}

/** What happens to the rate of its zone when this node, and nobody else, falls silent. */
export function deriveRateChange({ health, ratePerSecondIfSilent }: NodeFacts, { now }: Circumstances): RateChange {
  const atMs = Math.max(health?.silentFromMs ?? now.monotonicMs, now.monotonicMs);
  return { atMs, ratePerSecond: ratePerSecondIfSilent };
}
