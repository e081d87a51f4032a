import { describeEstimate, describeHold, describeLine } from './describe-values.ts';
import type { ZoneOutlook } from './outlook.ts';

/** Condition, arithmetic and rate of a zone in one line. */
export function describeZoneState({ zone, arithmetic }: ZoneOutlook): string {
  return `${zone}: ${arithmetic === null ? 'not judged yet' : arithmetic.reading}`;
}

/** All zones as a page for people, one paragraph each. */
export function describeZones(zones: readonly ZoneOutlook[]): string {
  return zones.length === 0 ? 'no zones\n' : zones.map((zone) => describeZone(zone)).join('');
}

function describeZone(outlook: ZoneOutlook): string {
  const { waiting, first, tokens, nextToken } = outlook.line;
  const shown = waiting === 0 ? '' : `: ${first.join(', ')}${waiting > first.length ? ', …' : ''}`;
  return [
    `zone ${describeZoneState(outlook)}\n`,
    describeLine('line', `${waiting} waiting${shown}`),
    describeLine('tokens', `${tokens} left, next token: ${describeEstimate(nextToken)}`),
    ...outlook.holds.map((hold) => describeLine('held', describeHold(hold))),
  ].join('');
}
