import type { Labels, Meter } from '../../ports/meter.ts';
import type { PolicyCount } from '../model/policy.ts';
import { policyConflictNodes, policyNodes } from './metrics.ts';

/** Sets the gauges of policies at each scrape. Costs time proportional to the nodes; nothing without policies. */
export function showPolicyNodes(meter: Meter, counts: () => readonly PolicyCount[]): void {
  let shown: readonly PolicyCount[] = [];
  meter.onRead(() => {
    for (const count of shown) forgetCount(meter, count);
    shown = counts();
    for (const count of shown) {
      meter.set(policyNodes, count.nodes, labelsOf(count));
      meter.set(policyConflictNodes, count.conflicts, { policy: count.policy });
    }
  });
}

function forgetCount(meter: Meter, count: PolicyCount): void {
  meter.forget(policyNodes, labelsOf(count));
  meter.forget(policyConflictNodes, { policy: count.policy });
}

function labelsOf({ policy, mode }: PolicyCount): Labels {
  return { policy, mode };
}
