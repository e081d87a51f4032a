// Why the deletion of a pod had to ask its PodDisruptionBudgets, as far as the sender knows.
import { objectKey } from '../../../src/machinery/api/object-key.ts';
import { podKey, type PodView } from '../../../src/machinery/api/pod.ts';
import { readyOf } from '../../../src/controller/health/assess-node.ts';
import type { Run } from '../../../src/simulator/cluster/replica.ts';
import type { RequestLine } from '../../../src/simulator/network/network.ts';
import type { World } from '../../../src/simulator/world.ts';
import { isOver, isWriteForHealth, policyKnownTo, versionsOf } from './find-hold.ts';

/** Timers are late, and never early, by less than this. */
const marginMs = 100;

/**
 * A pod of a node that is not Ready and reachable is deleted only if its deletion was due for the timeout, in which the Eviction
 * API was to be asked. The time at which it was due is that of the sender, which `deletion-has-reason` checks.
 */
export function whyBudgetNotAsked(config: World['config'], run: Run, line: RequestLine): string | undefined {
  const pod =
    line.verb === 'delete' ? run.manager.informers.pods.store.get(objectKey('default', line.name)) : undefined;
  if (pod === undefined || pod.uid !== line.uid || isOver(pod)) return undefined;
  const rule = policyKnownTo(run, pod.nodeName, config.policies)?.evictReachable;
  const isHeld = rule !== undefined && isWriteForHealth(run, line, pod.nodeName) && isReachable(run, pod.nodeName);
  return isHeld ? whyTooEarly(run, pod, rule.timeoutMs ?? config.evictReachableTimeoutMs) : undefined;
}

function whyTooEarly({ manager, process }: Run, pod: PodView, timeoutMs: number): string | undefined {
  const evictAt = manager.lifecycle.stages.evictor.timedEviction(podKey(pod));
  if (evictAt?.forHealth !== true) return undefined;
  const agoMs = process.monotonicMs() - evictAt.atMs;
  if (agoMs >= timeoutMs - marginMs) return undefined;
  return `its budget may hold it for ${timeoutMs / 1_000} s, and it is due for ${(agoMs / 1_000).toFixed(1)} s`;
}

/** Its kubelet reports that it is not ready, and sends heartbeats. */
function isReachable(run: Run, name: string): boolean {
  const { stages } = run.manager.lifecycle;
  return versionsOf(run, name).every(
    (node) =>
      node !== undefined &&
      readyOf(node) === 'False' &&
      stages.health.evaluate(node, stages.healthNow()).kind === 'alive',
  );
}
