import { gauge, type Meter } from '../../machinery/ports/meter.ts';
import type { SilenceConfirmer } from '../health/silence-confirmer.ts';
import type { HealthTable } from '../health/health-table.ts';
import type { HealthTransitions } from '../health/health-transitions.ts';
import type { NodeWorkLoops } from '../node-work/node-work-loops.ts';
import type { OutageWatch } from '../outage/outage-watch.ts';
import type { PodGarbageCollector } from '../pod-gc/pod-garbage-collector.ts';
import type { PodMarker } from '../pod-readiness/pod-marker.ts';
import type { PodMarkingQueues } from '../pod-readiness/pod-marking-queues.ts';
import type { TaintEvictor } from '../taint-eviction/taint-evictor.ts';
import type { ZoneTaintQueues } from '../tainting/zone-taint-queues.ts';
import type { ZoneTable } from '../zones/zone-table.ts';

type Sized = { readonly size: number };
type QueueOwner = { queuedNodes(): Iterable<string> };

/** The stages that remember nodes, pods or zones. */
interface MeasuredStages {
  readonly nodes: Sized;
  readonly leases: Sized;
  readonly podResponses: Sized;
  readonly health: Pick<HealthTable, 'size'>;
  readonly policies: Sized;
  readonly holds: Sized;
  readonly transitions: Pick<HealthTransitions, 'notReadyCount' | 'withheld'>;
  readonly confirmer: Pick<SilenceConfirmer, 'size'>;
  readonly monitor: Sized & { readonly heldZones: number };
  readonly zones: Pick<ZoneTable, 'size' | 'zones'>;
  readonly awaited: Sized;
  readonly outage: Pick<OutageWatch, 'size'>;
  readonly loops: Pick<NodeWorkLoops, 'size'>;
  readonly queues: Pick<ZoneTaintQueues, 'size' | 'zonesRemembered'>;
  readonly noExecute: QueueOwner;
  readonly evictor: Pick<TaintEvictor, 'size' | 'knownNodes'>;
  readonly marking: Pick<PodMarkingQueues, 'queuedNodes' | 'zonesRemembered'>;
  readonly marker: Pick<PodMarker, 'size'>;
  readonly podGc: Pick<PodGarbageCollector, 'missingNodes'>;
}

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
export function readCollectionSizes(stages: MeasuredStages): readonly CollectionSize[] {
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

function perNode(stages: MeasuredStages): Readonly<Record<string, number>> {
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
    'node-orphans': stages.podGc.missingNodes,
  };
}

function perPod(stages: MeasuredStages): Readonly<Record<string, number>> {
  return {
    'pod-evictions': stages.evictor.size,
    'pod-marks': stages.marker.size,
    'pod-responses': stages.podResponses.size,
  };
}

function perZone(stages: MeasuredStages): Readonly<Record<string, number>> {
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
