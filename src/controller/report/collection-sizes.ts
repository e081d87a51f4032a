import { gauge, type Meter } from '../../machinery/ports/meter.ts';
import type { Stages } from '../stages.ts';

export const collectionEntries = gauge(
  'node_lifecycle_collection_entries',
  'Number of entries of the collections of the controller that grow with the cluster: one for each node, pod or zone at most. More than the cluster has, for long, is a defect of the controller.',
  ['collection'],
);

/** A collection, or the largest one of several that are bounded by the same number. */
export interface CollectionSize {
  readonly collection: string;
  /** Objects of which each has at most one entry in the collection. */
  readonly per: 'node' | 'pod' | 'zone';
  readonly entries: number;
}

/** The sizes of all collections of the stages that grow with the cluster. Those with a fixed maximum are not listed. */
export function readCollectionSizes(stages: Stages): readonly CollectionSize[] {
  const sizes = { node: perNode(stages), pod: perPod(stages), zone: perZone(stages) };
  return (['node', 'pod', 'zone'] as const).flatMap((per) =>
    Object.entries(sizes[per]).map(([collection, entries]) => ({ collection, per, entries })),
  );
}

/** Updates the gauge on every scrape. */
export function showCollectionSizes(meter: Meter, sizes: () => readonly CollectionSize[]): void {
  meter.onRead(() => {
    for (const { collection, entries } of sizes()) meter.set(collectionEntries, entries, { collection });
  });
}

function perNode(stages: Stages): Readonly<Record<string, number>> {
  return {
    'node-health': stages.health.size,
    'node-policies': Math.max(stages.policies.size, stages.holds.size),
    'node-transitions': Math.max(stages.transitions.notReadyCount, stages.transitions.withheld.size),
    'node-confirmations': stages.confirmer.size,
    'node-passes': stages.monitor.size,
    'node-zones': Math.max(stages.zones.size, stages.awaited.size),
    'node-outage': stages.outage.size,
    'node-work': stages.loops.size,
    'node-responses': Math.max(stages.nodes.size, stages.leases.size),
    'node-taint-queue': Math.max(stages.queues.size, count(stages.noExecute.queuedNodes())),
    'node-taints': stages.evictor.knownNodes,
    'node-marking-queue': count(stages.marking.queuedNodes()),
    'node-faults': stages.recoveries.size,
    'node-warnings': stages.overdue.size,
    'node-probes': stages.detection?.size ?? 0,
    'node-orphans': stages.podGc.missingNodes,
  };
}

function perPod(stages: Stages): Readonly<Record<string, number>> {
  return {
    'pod-evictions': stages.evictor.size,
    'pod-marks': stages.marker.size,
    'pod-responses': stages.podResponses.size,
  };
}

function perZone(stages: Stages): Readonly<Record<string, number>> {
  return {
    'zone-states': stages.zones.zones().length,
    'zone-taint-queues': stages.queues.zonesRemembered,
    'zone-marking-queues': stages.marking.zonesRemembered,
    'zone-stops': stages.monitor.heldZones,
  };
}

function count(keys: Iterable<string>): number {
  return [...keys].length;
}
