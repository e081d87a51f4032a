// What applies to many nodes, read once for all nodes that are computed together.
import type { Now } from '../../controller/model/node-state.ts';
import { runningParts, type ControllerSelection } from '../../controller/model/options.ts';
import type { PolicyCount } from '../../controller/model/policy.ts';
import type { DashboardSources } from './dashboard-sources.ts';

export interface ClusterEvidence {
  readonly now: Now;
  /** The health clock. */
  readonly healthNowMs: number;
  readonly leading: boolean;
  readonly runs: ControllerSelection;
  readonly stale: string | undefined;
  readonly fullDisruption: boolean;
  /** All policies, without numbers of nodes. */
  readonly policies: readonly Omit<PolicyCount, 'nodes' | 'conflicts'>[];
  /** Changes when a node that is not ready may be held for another reason, or may be served at another time. */
  readonly fingerprint: string;
  /** Number of nodes before this one in the queue of its zone; undefined: not queued. */
  ahead(zone: string, node: string): number | undefined;
}

export function readClusterEvidence(sources: DashboardSources, now: Now): ClusterEvidence {
  const { stages, leadership, controllers, options } = sources;
  const policies = stages.policies.inForce();
  const openBreakers = policies.filter(({ breaker }) => breaker?.untilMs !== undefined);
  const fullPolicies = policies.filter(({ emptying }) => emptying && emptying.nodes.length >= emptying.max);
  const general = {
    leading: leadership.holds(),
    stale: stages.freshness.staleness(),
    fullDisruption: stages.zones.fullDisruption,
  };
  const positions = new Map<string, ReadonlyMap<string, number>>();
  return {
    now,
    healthNowMs: stages.freshness.nowMs(),
    runs: runningParts(controllers, options.current()),
    ...general,
    policies,
    fingerprint: JSON.stringify([
      general,
      [openBreakers, fullPolicies].map((each) => each.map(({ policy }) => policy)),
      outage(sources),
      rates(sources),
    ]),
    ahead: (zone, node) => {
      const known = positions.get(zone) ?? positionsIn(zone, sources);
      positions.set(zone, known);
      return known.get(node);
    },
  };
}

function outage({ stages }: DashboardSources): readonly unknown[] {
  const hold = stages.outage.hold();
  return hold === undefined ? [] : [hold.serial, hold.recovering];
}

function rates({ stages }: DashboardSources): readonly unknown[] {
  return stages.zones.zonesOfAllLevels().map((zone) => [zone, stages.queues.get(zone)?.ratePerSecond]);
}

function positionsIn(zone: string, { stages }: DashboardSources): ReadonlyMap<string, number> {
  const names = stages.queues.get(zone)?.keysInOrder() ?? [];
  return new Map(names.map((name, position) => [name, position]));
}
