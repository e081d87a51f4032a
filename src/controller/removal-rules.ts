import { readyOf } from './health/assess-node.ts';
import type { ObservingStages } from './observing-stages.ts';
import type { EvictionResponders } from './taint-eviction/eviction-responders.ts';
import type { RemovalRules } from './taint-eviction/removal-pace.ts';

/**
 * What policies and health say about deletions of pods. `confirms`: this process confirms a silence by a live read. `responders`: pods
 * of reachable nodes wait for them; undefined: for none.
 */
export function removalRules(
  stages: ObservingStages,
  confirms: boolean,
  responders: EvictionResponders | undefined,
): RemovalRules {
  return {
    evictReachableOf: (node) => stages.policies.evictReachableOf(node),
    deletionRateOf: (node) => stages.policies.deletionRateOf(node),
    isRetained: (pod) => stages.policies.keeperOf(pod) !== undefined,
    isReachable: (node) => isReachable(node, stages, confirms),
    responderOf: responders && ((pod, uid, timeoutMs) => responders.responderOf(pod, uid, timeoutMs)),
  };
}

/**
 * Whether the kubelet of a node reports and sends heartbeats, or would if the path to the API server had not failed. A node that
 * only looks silent is reachable until that is confirmed, where it is.
 */
function isReachable(name: string, stages: ObservingStages, confirms: boolean): boolean {
  const node = stages.nodes.get(name);
  if (node === undefined) return false;
  // Its silence says nothing about the node, for as long as that hold lasts.
  if (stages.outage.isHeld(name)) return true;
  if (!['True', 'False'].includes(readyOf(node))) return false;
  const { kind } = stages.health.evaluate(node, stages.healthNow());
  return kind === 'alive' || (kind === 'suspect' && confirms);
}
