import { ownValue } from '../../machinery/api/json-map.ts';
import { gauge, type Meter } from '../../machinery/ports/meter.ts';
import type { HealthTransitions } from '../health/health-transitions.ts';
import type { Act, HoldKind, HoldReader } from '../model/holds.ts';
import type { PolicyStage } from '../policies/policy-stage.ts';
import type { PodMarkingQueues } from '../pod-readiness/pod-marking-queues.ts';
import type { TaintEvictor } from '../taint-eviction/taint-evictor.ts';
import type { ZoneTaintQueues } from '../tainting/zone-taint-queues.ts';
import type { ZoneTable } from '../zones/zone-table.ts';

export const heldNodes = gauge(
  'node_lifecycle_held_nodes',
  'Number of nodes for which a due action is held, each counted under the first reason that applies.',
  ['reason'],
);

/** Updates the gauge on every scrape. Costs time proportional to the nodes that wait; nothing while none waits. */
export function showHeldNodes(meter: Meter, sources: HeldNodesSources): void {
  let shown: readonly string[] = [];
  meter.onRead(() => {
    const held = countHeldNodes(sources);
    for (const reason of shown) if (ownValue(held, reason) === undefined) meter.forget(heldNodes, { reason });
    shown = Object.keys(held);
    for (const [reason, count] of Object.entries(held)) meter.set(heldNodes, count, { reason });
  });
}

interface HeldNodesSources {
  readonly holds: Pick<HoldReader, 'of'> & { withheldNodes(): readonly string[] };
  readonly policies: Pick<PolicyStage, 'inForce' | 'maintenance' | 'breakerHeld'>;
  readonly transitions: Pick<HealthTransitions, 'withheld'>;
  readonly zones: Pick<ZoneTable, 'fullDisruption' | 'unreadyMembers'>;
  readonly queues: Pick<ZoneTaintQueues, 'keys'>;
  readonly marking: Pick<PodMarkingQueues, 'waiting'>;
  readonly evictor: Pick<TaintEvictor, 'heldNodes'>;
  /** Undefined in taint mode. */
  readonly podEvictor: unknown;
}

/** Number of nodes under the first reason that holds what is due for them. Reasons as in `explain`. */
function countHeldNodes(sources: HeldNodesSources): Readonly<Record<string, number>> {
  const counts: Partial<Record<HoldKind, number>> = { ...selectShown(sources) };
  const count = (kind: HoldKind): void => void (counts[kind] = (counts[kind] ?? 0) + 1);
  const due = listDue(sources);
  for (const [node, act] of due) {
    const [first] = sources.holds.of(node, act);
    if (first !== undefined) count(first.kind);
  }
  // Pods may be due for another taint than those of the health of their node.
  for (const [node, kind] of sources.evictor.heldNodes()) if (!due.has(node)) count(kind);
  return counts;
}

/** The reasons that are always shown, and those that some policy has. */
function selectShown({ policies }: HeldNodesSources): Readonly<Partial<Record<HoldKind, number>>> {
  const all = policies.inForce();
  const breaker = all.some((each) => each.breaker !== undefined) ? { breaker: 0 } : {};
  const concurrency = all.some((each) => each.emptying !== undefined) ? { concurrency: 0 } : {};
  const always = { observed: 0, paused: 0, maintenance: 0, unconfirmed: 0, stale: 0, 'full-disruption': 0 };
  return { ...always, ...breaker, ...concurrency, outage: 0, unclassified: 0, awaited: 0, 'zone-stopped': 0 };
}

/** Each node for which something may be due, with the first such act. */
function listDue(sources: HeldNodesSources): ReadonlyMap<string, Act> {
  const { holds, policies, transitions, zones, queues, marking, podEvictor } = sources;
  const emptying: Act = podEvictor === undefined ? 'add-no-execute' : 'empty-node';
  const due = new Map<string, Act>();
  const add = (nodes: Iterable<string>, act: Act): void => {
    for (const node of nodes) if (!due.has(node)) due.set(node, act);
  };
  add(transitions.withheld, 'mark-unknown');
  if (zones.fullDisruption) add(zones.unreadyMembers(), emptying);
  add(queues.keys(), emptying);
  add(marking.waiting(), 'mark-pods');
  add(holds.withheldNodes(), emptying);
  add(policies.maintenance.unready(), emptying);
  add(policies.breakerHeld() ?? [], emptying);
  return due;
}
