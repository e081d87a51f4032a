import type { ZoneCondition } from '../../api/zone.ts';
import type { ZoneReckoning } from '../decisions.ts';

/** A zone's arithmetic in one line: `3/5 not ready = 0.60 >= 0.55 -> partially-disrupted, zone size 5 <= 50 -> rate 0`. */
export function describeReckoning(why: ZoneReckoning, condition: ZoneCondition, ratePerSecond: number): string {
  const size = why.ready + why.unready;
  if (size === 0) return `no node counts -> ${condition} -> rate ${ratePerSecond}`;
  return `${why.unready}/${size} not ready = ${judgement(why, condition)} -> ${condition}${consequence(why)} -> rate ${ratePerSecond}`;
}

function judgement(why: ZoneReckoning, condition: ZoneCondition): string {
  const share = why.unready / (why.ready + why.unready);
  if (condition === 'fully-disrupted') return `${share.toFixed(2)}, none ready`;
  const threshold = why.unhealthyZoneThreshold;
  const reached = Math.fround(share) >= Math.fround(threshold);
  if (!reached) return `${shareText(share, threshold)} < ${threshold}`;
  const reaching = `${shareText(share, threshold)} >= ${threshold}`;
  return condition === 'normal' ? `${reaching}, but ${why.unready} are too few to judge by` : reaching;
}

/** Two digits, unless rounding would put it on the other side of the threshold. */
function shareText(share: number, threshold: number): string {
  const short = share.toFixed(2);
  return Number(short) >= threshold === share >= threshold ? short : share.toFixed(4);
}

function consequence({ ready, unready, largeClusterSizeThreshold, rule }: ZoneReckoning): string {
  const size = ready + unready;
  switch (rule) {
    case 'normal':
      return '';
    case 'large-zone-disrupted':
      return `, zone size ${size} > ${largeClusterSizeThreshold}`;
    case 'small-zone-disrupted':
      return `, zone size ${size} <= ${largeClusterSizeThreshold}`;
    case 'zone-dark':
      return ', other zones have ready nodes';
    case 'every-zone-dark':
      return ', no zone has a ready node';
  }
}
