// Two nodes are silent where one may be: the breaker opens, and the later one is emptied after an interval of `limits.overflow`, not
// before and not much later.
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

const preparedMs = 2_000;
/** Nodes that become silent so far apart did not fail together. */
const apartMs = 15_000;
/** A kubelet renewed its lease up to so long before it became silent. */
const renewalMs = 10_500;
/** A token of the zone, and the evaluation that gives a place. */
const taintedMs = 25_000;

export function planOverflowDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [first, second] = drawNodes(random, cluster);
  const intervalMs = oneOf(random, [20_000, 40_000]);
  const order = oneOf(random, ['severity', 'age', undefined] as const);
  if (first === undefined || second === undefined) return undefined;
  const openMs = preparedMs + apartMs + cluster.graceMs;
  // The first place may be that of the node that was being emptied when the breaker opened.
  const byMs = openMs + 2 * intervalMs + taintedMs;
  const durationMs = byMs + tailMs;
  const overflow = { ratePerHour: 3_600_000 / intervalMs, order };
  const limits = {
    maxUnhealthy: { percent: undefined, count: 1 },
    cooldownMs: 300_000,
    resetAtMs: undefined,
    overflow,
  };
  const policies = [{ ...makePolicy([first, second], 'Enforce'), limits }];
  const settings: PlannedFault = { atMs: 50, forMs: durationMs, fault: { kind: 'settings', change: { policies } } };
  const acts = [
    settings,
    silenceOf([first], preparedMs, durationMs),
    silenceOf([second], preparedMs + apartMs, durationMs),
  ];
  return {
    name: 'overflow',
    acts,
    durationMs,
    stuck: [first, second],
    beyondLimit: { node: second, notBeforeMs: openMs - renewalMs + intervalMs },
    taintedBy: { node: second, byMs },
    mayBeHeld: true,
  };
}
