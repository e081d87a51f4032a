import { ownValue } from '../../machinery/api/json-map.ts';
import { gauge, type Meter } from '../../machinery/ports/meter.ts';
import type { ActingStages } from '../acting-stages.ts';
import type { Act, HoldKind } from '../model/holds.ts';

export const heldNodes = gauge(
  'node_lifecycle_held_nodes',
  'Number of nodes for which a due action is held, each counted under the first reason that applies.',
  ['reason'],
);

/** Updates the gauge on every scrape. Costs time proportional to the nodes that wait; nothing while none waits. */
export function showHeldNodes(meter: Meter, stages: ActingStages): void {
  let shown: readonly string[] = [];
  meter.onRead(() => {
    const held = countHeldNodes(stages);
    for (const reason of shown) if (ownValue(held, reason) === undefined) meter.forget(heldNodes, { reason });
    shown = Object.keys(held);
    for (const [reason, count] of Object.entries(held)) meter.set(heldNodes, count, { reason });
  });
}

/** Number of nodes under the first reason that holds what is due for them. Reasons as in `explain`. */
function countHeldNodes(stages: ActingStages): Readonly<Record<string, number>> {
  const counts: Partial<Record<HoldKind, number>> = { ...selectShown(stages) };
  const count = (kind: HoldKind): void => void (counts[kind] = (counts[kind] ?? 0) + 1);
  const due = listDue(stages);
  for (const [node, act] of due) {
    const [first] = stages.holds.of(node, act);
    if (first !== undefined) count(first.kind);
  }
  // Pods may be due for another taint than those of the health of their node.
  for (const [node, kind] of stages.evictor.heldNodes()) if (!due.has(node)) count(kind);
  return counts;
}

/** The reasons that are always shown, and those that some policy has. */
function selectShown({ policies }: ActingStages): Readonly<Partial<Record<HoldKind, number>>> {
  const all = policies.inForce();
  const breaker = all.some((each) => each.breaker !== undefined) ? { breaker: 0 } : {};
  const concurrency = all.some((each) => each.emptying !== undefined) ? { concurrency: 0 } : {};
  const detect = all.some(({ mode }) => mode === 'Detect') ? { 'detect-only': 0 } : {};
  const always = { observed: 0, paused: 0, maintenance: 0, unconfirmed: 0, stale: 0, 'full-disruption': 0 };
  return {
    ...always,
    ...detect,
    ...breaker,
    ...concurrency,
    outage: 0,
    unclassified: 0,
    awaited: 0,
    'zone-stopped': 0,
  };
}

/** Each node for which something may be due, with the first such act. */
function listDue(stages: ActingStages): ReadonlyMap<string, Act> {
  const { holds, policies, transitions, zones, queues, marking, podEvictor, outOfService } = stages;
  const emptying: Act = podEvictor === undefined ? 'add-no-execute' : 'empty-node';
  const due = new Map<string, Act>();
  const add = (nodes: Iterable<string>, act: Act): void => {
    for (const node of nodes) if (!due.has(node)) due.set(node, act);
  };
  add(transitions.withheld, 'mark-unknown');
  if (zones.fullDisruption) add(zones.unreadyMembers(), emptying);
  add(queues.keys(), emptying);
  add(outOfService.heldNodes(), 'add-out-of-service');
  add(marking.waiting(), 'mark-pods');
  add(holds.withheldNodes(), emptying);
  add(policies.maintenance.unready(), emptying);
  add(policies.breakerHeld() ?? [], emptying);
  return due;
}
