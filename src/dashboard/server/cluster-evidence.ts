// What applies to many nodes, read once for all nodes that are computed together.
import type { Now } from '../../controller/model/node-state.ts';
import type { PolicyCount } from '../../controller/model/policy.ts';
import { readCluster } from '../../controller/report/read-cluster.ts';
import type { ClusterReport } from '../../controller/report/reports.ts';
import type { DashboardSources } from './dashboard-sources.ts';

export interface ClusterEvidence {
  readonly cluster: ClusterReport;
  /** All policies, without numbers of nodes. */
  readonly policies: readonly Omit<PolicyCount, 'nodes' | 'conflicts'>[];
  /** Changes when a node that is not ready may be held for another reason, or may be served at another time. */
  readonly fingerprint: string;
}

export function readClusterEvidence(sources: DashboardSources, now: Now): ClusterEvidence {
  const cluster = readCluster(sources, now);
  const policies = sources.stages.policies.inForce();
  const openBreakers = policies.filter(({ breaker }) => breaker?.untilMs !== undefined);
  const fullPolicies = policies.filter(({ emptying }) => emptying && emptying.nodes.length >= emptying.max);
  const { leading, stale, fullDisruption } = cluster;
  const usesFallback = sources.stages.freshness.usesFallback();
  return {
    cluster,
    policies,
    fingerprint: JSON.stringify([
      { leading, stale, usesFallback, fullDisruption },
      [openBreakers, fullPolicies].map((each) => each.map(({ policy }) => policy)),
      readOutage(sources),
      readRates(sources),
    ]),
  };
}

function readOutage({ stages }: DashboardSources): readonly unknown[] {
  const hold = stages.outage.hold();
  return hold === undefined ? [] : [hold.serial, hold.recovering];
}

function readRates({ stages }: DashboardSources): readonly unknown[] {
  return stages.zones.zonesOfAllLevels().map((zone) => [zone, stages.queues.get(zone)?.ratePerSecond]);
}
