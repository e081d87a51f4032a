import type { ZoneCondition } from '../../machinery/api/zone.ts';
import type { ZoneArithmetic } from '../model/decisions.ts';
import { buildZoneHolds } from './build-holds.ts';
import type { Now } from '../model/node-state.ts';
import { formatEstimate } from './format-time.ts';
import type { ZoneOutlook } from './pages.ts';
import type { ZoneReport } from './reports.ts';

const nodesShownMax = 20;

/** A zone's condition with its arithmetic, its rate, and its queue. */
export function buildZoneOutlook(report: ZoneReport, now: Now): ZoneOutlook {
  const { zone, condition, queue } = report;
  return {
    zone,
    condition,
    arithmetic: arithmeticOf(report),
    ratePerSecond: queue.ratePerSecond,
    queue: {
      waiting: queue.nodes.length,
      first: queue.nodes.slice(0, nodesShownMax),
      tokens: Math.round(queue.tokens * 1_000) / 1_000,
      nextToken: formatEstimate(queue.nextTokenAtMs, now),
    },
    holds: buildZoneHolds(report),
  };
}

function arithmeticOf({ arithmetic, condition, queue }: ZoneReport): ZoneOutlook['arithmetic'] {
  if (arithmetic === undefined) return null;
  const { ready, unready, ...bounds } = arithmetic;
  const size = ready + unready;
  return {
    unready,
    size,
    share: size === 0 ? 0 : unready / size,
    ...bounds,
    reading: describeArithmetic(arithmetic, condition, queue.ratePerSecond),
  };
}

/** A zone's arithmetic in one line: `3/5 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 5 <= 50 -> rate 0`. */
export function describeArithmetic(why: ZoneArithmetic, condition: ZoneCondition, ratePerSecond: number): string {
  const size = why.ready + why.unready;
  if (size === 0) return `no node counts -> ${condition} -> rate ${ratePerSecond}`;
  return `${why.unready}/${size} not ready = ${evaluation(why, condition)} -> ${condition}${consequence(why)} -> rate ${ratePerSecond}`;
}

function evaluation(why: ZoneArithmetic, condition: ZoneCondition): string {
  const share = why.unready / (why.ready + why.unready);
  if (condition === 'fully-disrupted') return `${share.toFixed(2)}, none ready`;
  const threshold = why.unhealthyZoneThreshold;
  const reached = Math.fround(share) >= Math.fround(threshold);
  if (!reached) return `${shareText(share, threshold)} < ${threshold}`;
  const reaching = `${shareText(share, threshold)} >= ${threshold}`;
  return condition === 'normal' ? `${reaching}, but fewer than 3 are not ready` : reaching;
}

/** Two digits, unless rounding would move it across the threshold. */
function shareText(share: number, threshold: number): string {
  const short = share.toFixed(2);
  return Number(short) >= threshold === share >= threshold ? short : share.toFixed(4);
}

function consequence({ ready, unready, largeClusterSizeThreshold, rule }: ZoneArithmetic): string {
  const size = ready + unready;
  switch (rule) {
    case 'normal':
      return '';
    case 'large-zone-disrupted':
      return `, zone size ${size} > ${largeClusterSizeThreshold}`;
    case 'small-zone-disrupted':
      return `, zone size ${size} <= ${largeClusterSizeThreshold}`;
    case 'zone-fully-disrupted':
      return ', other zones have ready nodes';
    case 'full-disruption':
      return ', no zone has a ready node';
  }
}
