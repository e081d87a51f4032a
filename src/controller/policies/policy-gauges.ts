import type { Labels, Meter } from '../../machinery/ports/meter.ts';
import type { PolicyCount } from '../model/policy.ts';
import {
  policyBreakerOpen,
  policyConflictNodes,
  policyEmptyingNodes,
  policyNodes,
  policyOpenWindows,
  policyOverflowNodes,
  policyStuckPods,
  policyStuckPodSeconds,
  policyUnhealthyLimit,
  policyUnhealthyNodes,
} from './metrics.ts';

const ofStuck = [policyStuckPods, policyStuckPodSeconds] as const;
const ofBreaker = [policyUnhealthyNodes, policyUnhealthyLimit, policyBreakerOpen, policyOverflowNodes] as const;

/** Sets the gauges of policies at each scrape. Costs time proportional to the nodes; nothing without policies. */
export function showPolicyNodes(meter: Meter, counts: () => readonly PolicyCount[]): void {
  let shown: readonly PolicyCount[] = [];
  meter.onRead(() => {
    for (const count of shown) forgetCount(meter, count);
    shown = counts();
    for (const count of shown) {
      meter.set(policyNodes, count.nodes, labelsOf(count));
      meter.set(policyConflictNodes, count.conflicts, { policy: count.policy });
      showBreaker(meter, count);
      const { policy, emptying, stuck, windows } = count;
      if (windows !== undefined) meter.set(policyOpenWindows, windows.length, { policy });
      if (emptying !== undefined) meter.set(policyEmptyingNodes, emptying.nodes.length, { policy });
      if (stuck === undefined) continue;
      meter.set(policyStuckPods, stuck.pods, { policy });
      meter.set(policyStuckPodSeconds, stuck.overdueSeconds, { policy });
    }
  });
}

function showBreaker(meter: Meter, { policy, breaker }: PolicyCount): void {
  if (breaker === undefined) return;
  meter.set(policyUnhealthyNodes, breaker.unhealthy, { policy });
  meter.set(policyUnhealthyLimit, breaker.limit, { policy });
  meter.set(policyBreakerOpen, breaker.untilMs === undefined ? 0 : 1, { policy });
  if (breaker.overflow !== undefined) meter.set(policyOverflowNodes, breaker.overflow.nodes, { policy });
}

function forgetCount(meter: Meter, count: PolicyCount): void {
  const { policy, breaker, emptying, stuck, windows } = count;
  if (windows !== undefined) meter.forget(policyOpenWindows, { policy });
  if (stuck !== undefined) for (const metric of ofStuck) meter.forget(metric, { policy });
  if (emptying !== undefined) meter.forget(policyEmptyingNodes, { policy });
  meter.forget(policyNodes, labelsOf(count));
  meter.forget(policyConflictNodes, { policy });
  if (breaker !== undefined) for (const metric of ofBreaker) meter.forget(metric, { policy });
}

function labelsOf({ policy, mode }: PolicyCount): Labels {
  return { policy, mode };
}
