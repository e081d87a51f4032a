// When a node's turn in line comes. The bucket holds one token at most, so turns are 1/rate apart; whoever is ahead and
// no longer wants the taint spends no token, so the real turn may come earlier. It comes later by as much as the pass
// that serves the line is late: a tenth of a second for each turn at the most.
import type { LineFacts } from './facts.ts';

/** The turn of whoever has so many ahead; Infinity while the line stands still. */
export function deriveTurnMs(line: LineFacts, ahead: number): number {
  if (ahead === 0 || !Number.isFinite(line.nextTokenAtMs)) return line.nextTokenAtMs;
  return line.nextTokenAtMs + (ahead * 1_000) / line.ratePerSecond;
}

export interface Joining {
  readonly atMs: number;
  /** The zone's rate from then on. */
  readonly ratePerSecond: number;
}

/** The turn of a node that is going to join the line, and may by that change the zone's rate. */
export function deriveTurnAfterJoiningMs(line: LineFacts, { atMs, ratePerSecond }: Joining): number {
  const lastTurnMs = deriveTurnMs(line, line.nodes.length);
  if (ratePerSecond === line.ratePerSecond) return Math.max(atMs, lastTurnMs);
  if (ratePerSecond <= 0) return Infinity;
  const stillAhead = line.nodes.filter((_, ahead) => deriveTurnMs(line, ahead) > atMs).length;
  // A bucket that could have granted stays full when the rate changes; one that could not starts anew.
  const firstMs = lastTurnMs <= atMs ? atMs : atMs + 1_000 / ratePerSecond;
  return firstMs + (stillAhead * 1_000) / ratePerSecond;
}
