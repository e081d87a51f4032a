// The rows of the dashboard of hollow nodes.
import { formatTime } from '../../../machinery/api/timestamps.ts';
import { zoneOf } from '../../../machinery/api/topology.ts';
import { zoneName } from '../../../machinery/api/zone.ts';
import { buildZoneRows } from '../../../dashboard/build-zone-rows.ts';
import type { HoldBanner, NodeCell, ZoneRow } from '../../../dashboard/protocol.ts';
import type { ActiveFault } from '../../../hollow-cluster/kubelet/faults/fault-injector.ts';
import type { FleetNode } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';

const holdsMax = 50;

/** Zone of a node, as a controller without policies counts it. */
export function selectZone({ labels }: Pick<FleetNode, 'labels'>): string {
  return zoneName(zoneOf(labels));
}

/** By name. The fleet does not know what a controller does with a zone. */
export function buildFleetZones(cells: readonly NodeCell[]): readonly ZoneRow[] {
  return buildZoneRows(cells, null);
}

/** The oldest {@link holdsMax} faults. `beganAtMs`: by the id of the fault. */
export function buildFaultBanners(
  faults: readonly ActiveFault[],
  beganAtMs: ReadonlyMap<string, number>,
  describe: (fault: ActiveFault['order']['fault']) => string,
): readonly HoldBanner[] {
  return faults.slice(0, holdsMax).map(({ id, order, active, waiting }) => {
    const sinceMs = beganAtMs.get(id);
    const isTimed = sinceMs !== undefined && order.forMs !== undefined && waiting === 0;
    const nodes = active === 1 ? '1 node' : `${active} nodes`;
    return {
      kind: 'fault',
      why: `fault ${id} on ${nodes}${waiting === 0 ? '' : `, ${waiting} more to follow`}: ${describe(order.fault)}`,
      since: sinceMs === undefined ? null : formatTime(sinceMs),
      until: isTimed ? formatTime(sinceMs + (order.forMs ?? 0)) : null,
      ends: `"Undo all", or DELETE /faults/${id}`,
    };
  });
}
