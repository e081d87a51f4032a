import type { NodeCell, ZoneRow } from './protocol.ts';

/** What a controller reported of a zone. */
interface ReportedZone {
  readonly condition: string;
  readonly ratePerSecond: number;
}

const unreadyStates: ReadonlySet<string> = new Set(['not-ready', 'unreachable', 'tainted', 'emptying']);

/** Zones by name, with the numbers of their nodes. `condition`: of a zone that is not among the reported ones. */
export function buildZoneRows(
  cells: Iterable<NodeCell>,
  condition: string | null,
  reported: ReadonlyMap<string, ReportedZone> = new Map(),
): readonly ZoneRow[] {
  const counts = new Map([...reported.keys()].map((zone) => [zone, { nodes: 0, unready: 0 }]));
  for (const { zone, state } of cells) {
    const count = counts.get(zone) ?? { nodes: 0, unready: 0 };
    count.nodes += 1;
    if (unreadyStates.has(state)) count.unready += 1;
    counts.set(zone, count);
  }
  const unknown = { tokens: null, waiting: null, drainSeconds: null };
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => {
      const known = reported.get(name) ?? { condition, ratePerSecond: null };
      return {
        name,
        outer: null,
        condition: known.condition,
        ...count,
        ratePerSecond: known.ratePerSecond,
        ...unknown,
      };
    });
}
