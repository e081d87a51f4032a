import { SeededRandom } from '../../../src/hollow-cluster/kubelet/faults/seeded-random.ts';
import { listConditions } from '../../../src/machinery/api/conditions.ts';
import { listLimits } from '../../../src/machinery/api/limits.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { ClusterPlan } from '../../../src/simulator/cluster/cluster-plan.ts';
import { between, chance, oneOf, wholeBetween } from '../../../src/simulator/draw.ts';
import type { Storage } from '../../../src/simulator/server/storage.ts';
import { editTaints } from './administrator.ts';
import type { Span } from './policy-plan.ts';
import type { ClusterFault, PlannedFault } from './world-fault.ts';

/**
 * Seed of the random source of large objects. It is a source of their own, so that seeds without them run as they did before;
 * with this one, no seed that `docs/simulator.md` or the regression seeds describe has any.
 */
const source = 0x5_3e;
const share = 0.05;
const nodesMax = 3;

/** Nodes that get more taints than are used, and long texts; none for most seeds. All end with the span. */
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

type LargeObject = Extract<ClusterFault, { kind: 'large-object' }>;

const prefix = 'many.example.com/t';
const taintCount = listLimits.taints + 10;
const message = 'x'.repeat(10_000);

/**
 * Gives the node more taints than are used, before its others, and its conditions long messages, which last until the
 * kubelet reports others. Returns the function that removes the taints.
 */
export function enlarge(
  storage: Storage,
  { node: name, effect }: LargeObject,
  attempt: (act: () => void) => void,
): () => void {
  const many = Array.from({ length: taintCount }, (_, place) => ({ key: `${prefix}${place}`, effect }));
  const put = (first: typeof many): void =>
    attempt(() => editTaints(storage, name, (taints) => [...first, ...taints.filter((taint) => !isOfLarge(taint))]));
  put(many);
  attempt(() => lengthenMessages(storage, name));
  return () => put([]);
}

/** Removes such taints from all nodes but these. */
export function shrinkOthers(storage: Storage, large: readonly string[], attempt: (act: () => void) => void): void {
  const nodes: readonly Node[] = storage.list('nodes');
  for (const { metadata, spec } of nodes) {
    const { name = '' } = metadata;
    if (large.includes(name) || spec?.taints?.some(isOfLarge) !== true) continue;
    attempt(() => editTaints(storage, name, (taints) => taints.filter((taint) => !isOfLarge(taint))));
  }
}

function isOfLarge({ key }: { readonly key: string }): boolean {
  return key.startsWith(prefix);
}

function lengthenMessages(storage: Storage, name: string): void {
  const node: Node | undefined = storage.get('nodes', { name });
  if (node === undefined) return;
  const conditions = listConditions(node.status?.conditions).map((condition) => ({ ...condition, message }));
  storage.merge('nodes', { name }, { status: { conditions } }, 'status');
}
