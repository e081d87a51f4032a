import { ownValue } from '../../machinery/api/json-map.ts';
import { gauge, type Meter } from '../../machinery/ports/meter.ts';
import type { Freshness } from '../model/freshness.ts';
import type { HealthTransitions } from '../health/health-transitions.ts';
import type { NodeHold } from '../model/policy.ts';
import type { OutageWatch } from '../outage/outage-watch.ts';
import type { PolicyStage } from '../policies/policy-stage.ts';
import type { PodMarkingQueues } from '../pod-readiness/pod-marking-queues.ts';
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
    const held = classifyHeldNodes(readWaiting(sources));
    for (const reason of shown) if (ownValue(held, reason) === undefined) meter.forget(heldNodes, { reason });
    shown = Object.keys(held);
    for (const [reason, count] of Object.entries(held)) meter.set(heldNodes, count, { reason });
  });
}

interface HeldNodesSources {
  readonly policies: Pick<PolicyStage, 'heldModes' | 'holdOf' | 'maintenance' | 'breakerHeld' | 'emptying'>;
  readonly transitions: Pick<HealthTransitions, 'withheld' | 'isWithheld'>;
  readonly zones: Pick<ZoneTable, 'zones' | 'plan' | 'fullDisruption'>;
  readonly outage: Pick<OutageWatch, 'isHeld'>;
  readonly freshness: Pick<Freshness, 'staleness'>;
  readonly queues: Pick<ZoneTaintQueues, 'get' | 'keys' | 'zoneOf'>;
  readonly marking: Pick<PodMarkingQueues, 'waiting'>;
}

export interface WaitingReport {
  /**
   * Mode of the hold of each node of which a policy or a pause withholds anything. Those nodes are in no other list.
   */
  readonly policyHeld: readonly NodeHold['mode'][];
  /** Nodes in planned maintenance that are not Ready. Those nodes are in no later list. */
  readonly maintained: number;
  /** Number of unhealthy nodes whose breaker is open and that are in no other list; undefined: no policy has limits. */
  readonly breakerHeld: number | undefined;
  /** Number of nodes that wait because of a maximum of nodes that are emptied at once; undefined: no policy has one. */
  readonly concurrencyHeld: number | undefined;
  /** Nodes that look silent and whose silence is not confirmed by a live read. */
  readonly withheld: number;
  readonly fullDisruption: boolean;
  /** Number of counted nodes of all zones that are not ready. */
  readonly unready: number;
  readonly stale: boolean;
  /**
   * Nodes that wait for a NoExecute taint (eviction mode: for the deletion of their pods) or the marking of their pods.
   * `outageHeld`: it became silent together with others of several zones. `zoneStopped`: the rate of its queue is 0.
   */
  readonly waiting: readonly { readonly outageHeld: boolean; readonly zoneStopped: boolean }[];
}

/** Number of held nodes by reason; each node counts for the first reason that applies. Reasons as in `explain`. */
export function classifyHeldNodes({
  policyHeld,
  maintained,
  breakerHeld,
  concurrencyHeld,
  withheld,
  fullDisruption,
  unready,
  stale,
  waiting,
}: WaitingReport): Readonly<Record<string, number>> {
  const others = waiting.filter(({ outageHeld }) => !outageHeld);
  const stopped = stale ? 0 : others.filter(({ zoneStopped }) => zoneStopped).length;
  const observed = policyHeld.filter((mode) => mode === 'Observe').length;
  return {
    observed,
    paused: policyHeld.length - observed,
    maintenance: maintained,
    ...onlyKnown({ breaker: breakerHeld, concurrency: concurrencyHeld }, fullDisruption),
    unconfirmed: withheld,
    'full-disruption': fullDisruption ? unready : 0,
    outage: fullDisruption ? 0 : waiting.length - others.length,
    stale: fullDisruption || !stale ? 0 : others.length,
    'zone-stopped': fullDisruption ? 0 : stopped,
  };
}

/** Reasons that are known; 0 in a full disruption, in which nodes count under another reason. */
function onlyKnown(
  counts: Readonly<Record<string, number | undefined>>,
  fullDisruption: boolean,
): Readonly<Record<string, number>> {
  const known = Object.entries(counts).flatMap(([reason, count]) =>
    count === undefined ? [] : [[reason, count] as const],
  );
  return Object.fromEntries(known.map(([reason, count]) => [reason, fullDisruption ? 0 : count]));
}

function readWaiting(sources: HeldNodesSources): WaitingReport {
  const { policies, transitions, zones, outage, freshness, queues, marking } = sources;
  const waiting = [...new Set([...queues.keys(), ...marking.waiting()])];
  const breakerHeld = policies.breakerHeld()?.filter((node) => isOnlyByBreaker(node, sources));
  const heldByBreaker = new Set(breakerHeld);
  const isFree = (node: string): boolean =>
    policies.holdOf(node) === undefined && !policies.maintenance.has(node) && !heldByBreaker.has(node);
  const concurrencyHeld = policies.emptying.heldOf(queues.keys())?.filter(isFree);
  const heldByConcurrency = new Set(concurrencyHeld);
  return {
    policyHeld: policies.heldModes(),
    maintained: policies.maintenance.unready().filter((node) => policies.holdOf(node) === undefined).length,
    breakerHeld: breakerHeld?.length,
    concurrencyHeld: concurrencyHeld?.length,
    withheld: transitions.withheld,
    fullDisruption: zones.fullDisruption,
    unready: zones.zones().reduce((sum, zone) => sum + (zones.plan(zone)?.why.unready ?? 0), 0),
    stale: freshness.staleness() !== undefined,
    waiting: waiting
      .filter((node) => isFree(node) && !heldByConcurrency.has(node))
      .map((node) => ({
        outageHeld: outage.isHeld(node),
        zoneStopped: queues.get(queues.zoneOf(node) ?? '')?.ratePerSecond === 0,
      })),
  };
}

function isOnlyByBreaker(node: string, { policies, transitions }: HeldNodesSources): boolean {
  return policies.holdOf(node) === undefined && !policies.maintenance.has(node) && !transitions.isWithheld(node);
}
