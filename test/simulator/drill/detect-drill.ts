// A silent node whose policy has mode Detect, or whose pods asked to be kept: nothing is evicted until that is over.
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

const preparedMs = 2_000;
/** By then a node that is silent from the beginning is Unknown. */
const unknownMs = 15_000;
/** From the end of the mode to the last deletion: a token of the zone, and the longest toleration that is waited for. */
const emptiedMs = 75_000;

export function planDetectDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const [node] = names;
  const keeps = oneOf(random, ['node', 'node', 'ready-pods', 'asking-pods'] as const);
  const evictAfterMs = oneOf(random, [20_000, 45_000]);
  if (node === undefined) return undefined;
  const durationMs = preparedMs + cluster.graceMs + unknownMs + evictAfterMs + emptiedMs + tailMs;
  const policies = [fieldsOf(keeps, evictAfterMs, node)];
  const settings: PlannedFault = { atMs: 50, forMs: durationMs, fault: { kind: 'settings', change: { policies } } };
  const asked: PlannedFault = { atMs: 60, forMs: 1, fault: { kind: 'autonomy', share: 1 } };
  const acts = [settings, ...(keeps === 'asking-pods' ? [asked] : []), silenceOf(names, preparedMs, durationMs)];
  return { name: 'detect', acts, durationMs, stuck: [], detected: { node, keeps, evictAfterMs } };
}

function fieldsOf(keeps: 'node' | 'ready-pods' | 'asking-pods', evictAfterMs: number, node: string): NodePolicy {
  if (keeps === 'asking-pods') return { ...makePolicy([node], 'Enforce'), podAutonomy: { evictAfterMs } };
  return { ...makePolicy([node], 'Detect'), detect: { markPods: keeps === 'node', evictAfterMs } };
}
