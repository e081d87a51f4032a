import type { Meter, MetricDefinition } from '../ports/meter.ts';
import type { Sight } from '../ports/sight.ts';
import { deriveHeldNodes, type WaitingFacts } from './derive-held-nodes.ts';
import type { VerdictBook } from './health/verdict-book.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { MarkingLines } from './pod-readiness/marking-lines.ts';
import type { ZoneTaintQueues } from './tainting/zone-taint-queues.ts';
import type { ZoneTable } from './zones/zone-table.ts';

export const heldNodes: MetricDefinition = {
  name: 'node_lifecycle_held_nodes',
  kind: 'gauge',
  help: 'Nodes for which something is due and held back now, each under the first reason that applies. unconfirmed: it looks silent and is not called so until the API server has been asked; every-zone-dark: it is not ready, and so is every zone; outage: it waits for a NoExecute taint or the marking of its pods while the way to the API server is the likelier fault; blind: it waits for a NoExecute taint while verdicts are frozen; zone-stopped: the rate of its zone is 0.',
  stability: 'ALPHA',
  labels: ['reason'],
};

export interface HeldNodesSources {
  readonly verdicts: Pick<VerdictBook, 'withheld'>;
  readonly zones: Pick<ZoneTable, 'zones' | 'plan' | 'everyZoneDark'>;
  readonly outage: Pick<OutageWatch, 'hold'>;
  readonly sight: Pick<Sight, 'blindness'>;
  readonly queues: Pick<ZoneTaintQueues, 'zones' | 'get' | 'keys'>;
  readonly marking: Pick<MarkingLines, 'waiting'>;
}

/** Shows on every read of the meter how many nodes are held back. Costs what waits, and nothing while nobody does. */
export function showHeldNodes(meter: Meter, sources: HeldNodesSources): void {
  meter.onRead(() => {
    const held = deriveHeldNodes(readFacts(sources));
    for (const [reason, count] of Object.entries(held)) meter.set(heldNodes, count, { reason });
  });
}

function readFacts({ verdicts, zones, outage, sight, queues, marking }: HeldNodesSources): WaitingFacts {
  return {
    withheld: verdicts.withheld,
    everyZoneDark: zones.everyZoneDark,
    unready: zones.zones().reduce((sum, zone) => sum + (zones.plan(zone)?.why.unready ?? 0), 0),
    outageHeld: outage.hold() !== undefined,
    blind: sight.blindness() !== undefined,
    lines: queues.zones().map((zone) => {
      const line = queues.get(zone);
      return { nodes: line?.size ?? 0, ratePerSecond: line?.ratePerSecond ?? 0 };
    }),
    waitingForAny: () => new Set([...queues.keys(), ...marking.waiting()]).size,
  };
}
