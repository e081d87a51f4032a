// Two nodes are silent where one may be: the breaker opens, and the later one is emptied after an interval of `limits.overflow`, not
// before and not much later. Or another tool has marked both: when that is over they are emptied one by one, too.
import type { NodePolicy, overflowOrders, PolicyLimits } from '../../../src/controller/model/policy.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { vetoAnnotations } from '../../../src/machinery/api/vetoes.ts';
import { chance, oneOf } from '../../../src/simulator/draw.ts';
import { vetoRule } from '../faults/detect-plan.ts';
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

/** How long a mark of another tool holds a node, from when it is unhealthy: longer than two intervals would add up. */
const markedMs = 120_000;
const markedIntervalMs = 40_000;
/** Places that all nodes were held from are offered again after this time. */
const offeredMs = 5_000;

export function planOverflowDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const [first, second] = drawNodes(random, cluster);
  const intervalMs = oneOf(random, [20_000, 40_000]);
  const order = oneOf(random, ['severity', 'age', undefined] as const);
  if (first === undefined || second === undefined) return undefined;
  if (chance(random, 0.4)) return planMarked([first, second], order, cluster);
  const openMs = preparedMs + apartMs + cluster.graceMs;
  // The first place may be that of the node that was being emptied when the breaker opened.
  const byMs = openMs + 2 * intervalMs + taintedMs;
  return {
    ...storyOf(
      [first, second],
      { ...makePolicy([first, second], 'Enforce'), limits: limitsOf(intervalMs, order) },
      byMs,
    ),
    beyondLimit: { node: second, notBeforeMs: openMs - renewalMs + intervalMs },
    taintedBy: { node: second, byMs },
  };
}

/** The time in which nothing may be emptied gives no places. */
function planMarked(nodes: readonly [string, string], order: Order, { graceMs }: DrillCluster): Drill {
  const [, last] = nodes;
  const endMs = preparedMs + graceMs + markedMs;
  const notBeforeMs = endMs - renewalMs + markedIntervalMs;
  const byMs = endMs + markedIntervalMs + 2 * offeredMs + taintedMs;
  const limits = limitsOf(markedIntervalMs, order);
  const policy = { ...makePolicy(nodes, 'Enforce'), limits, vetoes: vetoRule(markedMs) };
  const story = storyOf(nodes, policy, byMs);
  const [key = ''] = vetoAnnotations;
  const marks = nodes.map((node): PlannedFault => {
    return { atMs: 60, forMs: story.durationMs, fault: { kind: 'annotation', node, key, value: 'true' } };
  });
  const acts = [...story.acts, ...marks];
  return { ...story, acts, beyondLimit: { node: last, notBeforeMs }, taintedBy: { node: last, byMs } };
}

type Order = (typeof overflowOrders)[number] | undefined;

function limitsOf(intervalMs: number, order: Order): PolicyLimits {
  return {
    maxUnhealthy: { percent: undefined, count: 1 },
    cooldownMs: 300_000,
    resetAtMs: undefined,
    overflow: { ratePerHour: 3_600_000 / intervalMs, order },
  };
}

/** These nodes become silent one after the other. */
function storyOf(nodes: readonly string[], policy: NodePolicy, byMs: number): Drill {
  const durationMs = byMs + tailMs;
  const fault = { kind: 'settings', change: { policies: [policy] } } as const;
  const silences = nodes.map((node, index) => silenceOf([node], preparedMs + index * apartMs, durationMs));
  const acts = [{ atMs: 50, forMs: durationMs, fault }, ...silences];
  return { name: 'overflow', acts, durationMs, stuck: nodes, mayBeHeld: true };
}
