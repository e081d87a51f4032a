import { outerZoneOf, zoneName } from '../../machinery/api/zone.ts';
import type { ZoneRow } from '../../dashboard/protocol.ts';
import type { CellCounts } from '../dashboard/cell-tally.ts';

interface ZoneFigures {
  readonly zone: string;
  readonly condition: string;
  readonly ready: number;
  readonly unready: number;
  /** Rate as far as the outer zone allows, as are the tokens. */
  readonly ratePerSecond: number;
  readonly tokens: number;
  readonly waiting: number;
}

/** A zone that is evaluated. Tokens to a tenth, because they fill slowly. */
export function buildZoneRow({ zone, ready, unready, tokens, ...evidence }: ZoneFigures): ZoneRow {
  const outer = outerZoneOf(zone);
  return {
    name: zoneName(zone),
    outer: outer === undefined ? null : zoneName(outer),
    condition: evidence.condition,
    nodes: ready + unready,
    unready,
    ratePerSecond: evidence.ratePerSecond,
    tokens: Math.floor(tokens * 10) / 10,
    waiting: evidence.waiting,
    drainSeconds: estimateDrainSeconds(evidence),
  };
}

function estimateDrainSeconds({
  waiting,
  ratePerSecond,
}: Pick<ZoneFigures, 'waiting' | 'ratePerSecond'>): number | null {
  if (waiting === 0) return 0;
  return ratePerSecond > 0 ? Math.ceil(waiting / ratePerSecond) : null;
}

/** A zone of a replica that evaluates none. */
export function buildUnevaluatedZoneRow(name: string, { nodes, unhealthy }: CellCounts): ZoneRow {
  const unknown = { ratePerSecond: null, tokens: null, waiting: null, drainSeconds: null };
  return { name, outer: null, condition: 'initial', nodes, unready: unhealthy, ...unknown };
}
