// A silent node whose policy has mode Detect, which another tool marked, or whose pods asked to be kept: nothing is evicted until
// that is over.
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { knownVetoes } from '../../../src/machinery/api/vetoes.ts';
import type { Random } from '../../../src/machinery/ports/random.ts';
import { oneOf } from '../../../src/simulator/draw.ts';
import { makePolicy } from '../faults/policy-plan.ts';
import { vetoRule } from '../faults/detect-plan.ts';
import type { PlannedFault, WorldFault } from '../faults/world-fault.ts';
import { drawNodes, type Drill, type DrillCluster, silenceOf, tailMs } from './drill-plan.ts';

const preparedMs = 2_000;
/** By then a node that is silent from the beginning is Unknown. */
const unknownMs = 15_000;
/** From the end of the mode to the last deletion: a token of the zone, and the longest toleration that is waited for. */
const emptiedMs = 75_000;

type Keeps = NonNullable<Drill['detected']>['keeps'];

export function planDetectDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const keeps = oneOf(random, ['node', 'vetoed', 'ready-pods', 'asking-pods'] as const);
  return planKept(random, cluster, { names, keeps, asks: { kind: 'autonomy', share: 1 } });
}

/** All pods ask by the label of their namespace. */
export function planNamespaceDrill(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  return planKept(random, cluster, { names, keeps: 'asking-pods', asks: { kind: 'namespace-autonomy', asks: true } });
}

interface Kept {
  /** The first is what the drill is about; all are silent. */
  readonly names: readonly string[];
  readonly keeps: Keeps;
  /** How pods ask. */
  readonly asks: WorldFault;
}

function planKept(random: Random, cluster: DrillCluster, { names, keeps, asks }: Kept): Drill | undefined {
  const [node] = names;
  const evictAfterMs = oneOf(random, [20_000, 45_000]);
  if (node === undefined) return undefined;
  const durationMs = preparedMs + cluster.graceMs + unknownMs + evictAfterMs + emptiedMs + tailMs;
  const policies = [fieldsOf(keeps, evictAfterMs, node)];
  const settings: PlannedFault = { atMs: 50, forMs: durationMs, fault: { kind: 'settings', change: { policies } } };
  const asked: PlannedFault = { atMs: 60, forMs: 1, fault: asks };
  const mark: PlannedFault = { atMs: 60, forMs: durationMs, fault: markOf(random, node) };
  const others = { 'asking-pods': [asked], vetoed: [mark], node: [], 'ready-pods': [] }[keeps];
  const acts = [settings, ...others, silenceOf(names, preparedMs, durationMs)];
  return { name: 'detect', acts, durationMs, stuck: [], detected: { node, keeps, evictAfterMs } };
}

function markOf(random: Random, node: string): WorldFault {
  const { kind, name: key } = oneOf(random, knownVetoes);
  return kind === 'label' ? { kind, node, key, value: 'true' } : { kind, node, key, value: 'true' };
}

function fieldsOf(keeps: Keeps, evictAfterMs: number, node: string): NodePolicy {
  if (keeps === 'vetoed') return { ...makePolicy([node], 'Enforce'), vetoes: vetoRule(evictAfterMs) };
  if (keeps === 'asking-pods') return { ...makePolicy([node], 'Enforce'), podAutonomy: { evictAfterMs } };
  return { ...makePolicy([node], 'Detect'), detect: { markPods: keeps === 'node', evictAfterMs } };
}
