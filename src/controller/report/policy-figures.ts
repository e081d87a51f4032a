import type { PodView } from '../../machinery/api/pod.ts';
import type { StoreReader } from '../../machinery/informer/informer.ts';
import type { PolicyFigures, PolicySelection } from '../model/policy.ts';
import type { ActingStages } from '../acting-stages.ts';

interface PolicyFiguresSources {
  readonly stages: ActingStages;
  readonly nodes: Pick<StoreReader<unknown>, 'keys'>;
  readonly pods: Pick<StoreReader<PodView>, 'get'>;
}

/** Nodes or pods of one step. */
const stepSize = 64;

const none = { nodes: 0, conflicts: 0, unhealthy: 0, held: 0, pendingEvictions: 0 } as const;
type Figure = keyof typeof none;
type Counts = Record<Figure, number>;

/**
 * The figures of each policy by its name, in steps, because they cost time proportional to the nodes and to the scheduled
 * evictions. What changes meanwhile is counted as before or as after its change.
 */
export function* countPolicyFigures(
  sources: PolicyFiguresSources,
): Generator<undefined, ReadonlyMap<string, PolicyFigures>> {
  const { policies } = sources.stages;
  const counts = new Map<string, Counts>();
  let steps = 0;
  for (const [node, figure] of listFigures(sources)) {
    add(counts, policies.selectionOf(node), figure);
    steps += 1;
    if (steps % stepSize === 0) yield;
  }
  return new Map(
    policies.inForce().map((each): [string, PolicyFigures] => {
      return [each.policy, { ...none, ...counts.get(each.policy), ...each }];
    }),
  );
}

/** Each node with each figure for which it counts, once for each pod that waits for its eviction. */
function* listFigures({ stages, nodes, pods }: PolicyFiguresSources): Generator<readonly [node: string, Figure]> {
  const { policies, holds, evictor } = stages;
  for (const node of nodes.keys()) {
    yield [node, 'nodes'];
    if (!policies.isHealthy(node)) yield [node, 'unhealthy'];
  }
  for (const node of holds.heldNodes()) yield [node, 'held'];
  for (const pod of evictor.scheduled().keys()) yield [pods.get(pod)?.nodeName ?? '', 'pendingEvictions'];
}

function add(counts: Map<string, Counts>, selection: PolicySelection, figure: Figure): void {
  if (selection.kind === 'policy') increment(counts, selection.policy.name, figure);
  if (selection.kind === 'conflict' && figure === 'nodes')
    for (const { name } of selection.policies) increment(counts, name, 'conflicts');
}

function increment(counts: Map<string, Counts>, policy: string, figure: Figure): void {
  const known = counts.get(policy) ?? { ...none };
  known[figure] += 1;
  counts.set(policy, known);
}
