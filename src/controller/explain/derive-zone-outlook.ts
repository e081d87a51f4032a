import { deriveZoneHolds } from './derive-holds.ts';
import { deriveEstimate } from './derive-time.ts';
import { describeReckoning } from './describe-reckoning.ts';
import type { Moment, ZoneFacts } from './facts.ts';
import type { ZoneOutlook } from './outlook.ts';

const nodesShownMax = 20;

/** A zone's condition with the arithmetic behind it, its rate, and who waits in its line. */
export function deriveZoneOutlook(facts: ZoneFacts, now: Moment): ZoneOutlook {
  const { zone, condition, line } = facts;
  return {
    zone,
    condition,
    arithmetic: arithmeticOf(facts),
    ratePerSecond: line.ratePerSecond,
    line: {
      waiting: line.nodes.length,
      first: line.nodes.slice(0, nodesShownMax),
      tokens: Math.round(line.tokens * 1_000) / 1_000,
      nextToken: deriveEstimate(line.nextTokenAtMs, now),
    },
    holds: deriveZoneHolds(facts),
  };
}

function arithmeticOf({ reckoning, condition, line }: ZoneFacts): ZoneOutlook['arithmetic'] {
  if (reckoning === undefined) return null;
  const { ready, unready, unhealthyZoneThreshold, largeClusterSizeThreshold, rule } = reckoning;
  const size = ready + unready;
  return {
    unready,
    size,
    share: size === 0 ? 0 : unready / size,
    unhealthyZoneThreshold,
    largeClusterSizeThreshold,
    rule,
    reading: describeReckoning(reckoning, condition, line.ratePerSecond),
  };
}
