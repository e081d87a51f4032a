import type { NodeSource } from './model/commands.ts';
import type { Now } from './model/node-state.ts';
import { readyOf } from './health/assess-node.ts';
import type { HealthTable } from './health/health-table.ts';
import type { PolicyStage } from './policies/policy-stage.ts';
import type { DepartureSource } from './taint-eviction/departures.ts';

interface DepartureStages {
  readonly nodes: NodeSource;
  readonly health: Pick<HealthTable, 'evaluate'>;
  readonly policies: Pick<PolicyStage, 'evictReachableOf' | 'deletionRateOf' | 'keeperOf'>;
  healthNow(): Now;
}

/** What policies and health say about deletions of pods. `confirms`: this process confirms a silence by a live read. */
export function departureSource(stages: DepartureStages, confirms: boolean): DepartureSource {
  return {
    evictReachableOf: (node) => stages.policies.evictReachableOf(node),
    deletionRateOf: (node) => stages.policies.deletionRateOf(node),
    isKept: (pod) => stages.policies.keeperOf(pod) !== undefined,
    isReachable: (node) => isReachable(node, stages, confirms),
  };
}

/** Its kubelet reports and sends heartbeats. A node that only looks silent is reachable until that is confirmed, where it is. */
function isReachable(name: string, stages: DepartureStages, confirms: boolean): boolean {
  const node = stages.nodes.get(name);
  if (node === undefined || !['True', 'False'].includes(readyOf(node))) return false;
  const { kind } = stages.health.evaluate(node, stages.healthNow());
  return kind === 'alive' || (kind === 'suspect' && confirms);
}
