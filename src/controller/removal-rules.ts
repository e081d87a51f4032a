import type { NodeSource } from './model/commands.ts';
import type { Now } from './model/node-state.ts';
import { readyOf } from './health/assess-node.ts';
import type { HealthTable } from './health/health-table.ts';
import type { OutageWatch } from './outage/outage-watch.ts';
import type { PolicyStage } from './policies/policy-stage.ts';
import type { RemovalRules } from './taint-eviction/pod-removal.ts';

interface RemovalStages {
  readonly nodes: NodeSource;
  readonly health: Pick<HealthTable, 'evaluate'>;
  readonly outage: Pick<OutageWatch, 'isHeld'>;
  readonly policies: Pick<PolicyStage, 'evictReachableOf' | 'deletionRateOf' | 'keeperOf'>;
  healthNow(): Now;
}

/** What policies and health say about deletions of pods. `confirms`: this process confirms a silence by a live read. */
export function removalRules(stages: RemovalStages, confirms: boolean): RemovalRules {
  return {
    evictReachableOf: (node) => stages.policies.evictReachableOf(node),
    deletionRateOf: (node) => stages.policies.deletionRateOf(node),
    isRetained: (pod) => stages.policies.keeperOf(pod) !== undefined,
    isReachable: (node) => isReachable(node, stages, confirms),
  };
}

/**
 * Whether the kubelet of a node reports and sends heartbeats, or would if the path to the API server had not failed. A node that
 * only looks silent is reachable until that is confirmed, where it is.
 */
function isReachable(name: string, stages: RemovalStages, confirms: boolean): boolean {
  const node = stages.nodes.get(name);
  if (node === undefined) return false;
  // Its silence says nothing about the node, for as long as that hold lasts.
  if (stages.outage.isHeld(name)) return true;
  if (!['True', 'False'].includes(readyOf(node))) return false;
  const { kind } = stages.health.evaluate(node, stages.healthNow());
  return kind === 'alive' || (kind === 'suspect' && confirms);
}
