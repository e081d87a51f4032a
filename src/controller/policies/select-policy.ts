// Selects the policy of a node from its labels. The order of the policies does not matter.
import { matchesLabels } from '../../machinery/api/label-selector.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import type { NodePolicy, PodKeeper, PolicySelection } from '../model/policy.ts';
import { autonomyLabel, isCompleted, type PodView } from '../../machinery/api/pod.ts';

const byDefault: PolicySelection = { kind: 'default' };

/**
 * The matching policy of the highest priority; of equal priorities the one with more requirements. Two that are equal in
 * both claim the node equally: neither applies, and no third one does.
 */
export function selectPolicy(labels: Labels, policies: readonly NodePolicy[]): PolicySelection {
  const matching = policies.filter(({ selector, isGuard }) => isGuard !== true && matchesLabels(selector, labels));
  const [first, ...others] = matching;
  if (first === undefined) return byDefault;
  const best = others.reduce((best, policy) => (compareClaims(policy, best) > 0 ? policy : best), first);
  const equal = matching.filter((policy) => compareClaims(policy, best) === 0);
  return equal.length === 1 ? { kind: 'policy', policy: best } : { kind: 'conflict', policies: equal };
}

/** Every policy that holds for a node: the selected one, each of those that claim it equally, and guards. */
export function selectClaims(
  labels: Labels,
  selection: PolicySelection,
  policies: readonly NodePolicy[],
): readonly NodePolicy[] {
  const guards = policies.filter(({ selector, isGuard }) => isGuard === true && matchesLabels(selector, labels));
  if (selection.kind === 'policy') return [selection.policy, ...guards];
  return selection.kind === 'conflict' ? [...selection.policies, ...guards] : guards;
}

/** Positive: `a` has the stronger claim. */
function compareClaims(
  a: Pick<NodePolicy, 'priority' | 'selector'>,
  b: Pick<NodePolicy, 'priority' | 'selector'>,
): number {
  return a.priority - b.priority || a.selector.length - b.selector.length;
}

/**
 * Which label asks that a pod is kept: its own one, which also says that it is not, or that of its namespace, which may where that is
 * not known; undefined: none.
 */
export function selectAsking(
  { labels }: Pick<PodView, 'labels'>,
  isAutonomous: boolean | undefined,
): PodKeeper['asks'] {
  const own = labels[autonomyLabel];
  if (own !== undefined) return own === 'true' ? 'pod' : undefined;
  if (isAutonomous === undefined) return 'unknown';
  return isAutonomous ? 'namespace' : undefined;
}

/** What decides beside the policies: who asks, since when the node is unhealthy, and the time now. Wall times; undefined: it is Ready. */
interface PodNode {
  readonly asks: PodKeeper['asks'];
  readonly unhealthySinceMs: number | undefined;
  readonly wallMs: number;
}

/** The policy that keeps this pod from evictions for the health of its node, of several the one that keeps it longest; undefined: none. */
export function decideKeeper(
  pod: Pick<PodView, 'phase'>,
  claims: readonly NodePolicy[],
  { asks, unhealthySinceMs = Infinity, wallMs }: PodNode,
): PodKeeper | undefined {
  const completed = isCompleted(pod) ? claims.find(({ keepCompletedPods }) => keepCompletedPods) : undefined;
  if (completed !== undefined) return { policy: completed.name, why: 'completed', untilMs: Infinity };
  if (asks === undefined) return undefined;
  const keepers = claims.flatMap(({ name, podAutonomy: rule }) => {
    const untilMs = unhealthySinceMs + (rule?.evictAfterMs ?? 0);
    return rule === undefined || untilMs <= wallMs ? [] : [{ policy: name, why: 'autonomous' as const, asks, untilMs }];
  });
  return keepers.toSorted((a, b) => b.untilMs - a.untilMs)[0];
}
