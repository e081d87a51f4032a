import type { PodView } from '../../api/pod.ts';
import type { StoreReader } from '../../informer/informer.ts';
import type { PolicyFigures } from '../model/policy.ts';
import type { PolicyStage } from '../policies/policy-stage.ts';
import type { TaintEvictor } from '../taint-eviction/taint-evictor.ts';

interface PolicyFiguresSources {
  readonly stages: {
    readonly policies: Pick<PolicyStage, 'counts' | 'selectionOf' | 'heldNodes' | 'isHealthy'>;
    readonly evictor: Pick<TaintEvictor, 'scheduled'>;
  };
  readonly nodes: Pick<StoreReader<unknown>, 'keys'>;
  readonly pods: Pick<StoreReader<PodView>, 'get'>;
}

/** The figures of each policy by its name. Costs time proportional to the nodes and to the scheduled evictions. */
export function countPolicyFigures({ stages, nodes, pods }: PolicyFiguresSources): ReadonlyMap<string, PolicyFigures> {
  const { policies, evictor } = stages;
  const unhealthy = new Map<string, number>();
  const held = new Map<string, number>();
  const pending = new Map<string, number>();
  const count = (counts: Map<string, number>, node: string): void => {
    const selection = policies.selectionOf(node);
    if (selection.kind === 'policy') counts.set(selection.policy.name, (counts.get(selection.policy.name) ?? 0) + 1);
  };
  for (const node of nodes.keys()) if (!policies.isHealthy(node)) count(unhealthy, node);
  for (const node of policies.heldNodes()) count(held, node);
  for (const pod of evictor.scheduled().keys()) count(pending, pods.get(pod)?.nodeName ?? '');
  const figuresOf = (policy: string): Pick<PolicyFigures, 'unhealthy' | 'held' | 'pendingEvictions'> => ({
    unhealthy: unhealthy.get(policy) ?? 0,
    held: held.get(policy) ?? 0,
    pendingEvictions: pending.get(policy) ?? 0,
  });
  return new Map(policies.counts().map((counted) => [counted.policy, { ...counted, ...figuresOf(counted.policy) }]));
}
