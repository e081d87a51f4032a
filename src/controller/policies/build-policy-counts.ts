import type { NodePolicy, PolicyCount, PolicySelection } from '../model/policy.ts';

/** For each policy, in the order of the policies: the nodes of which `selectionOf` says that it claims them. */
export function buildPolicyCounts(
  policies: readonly NodePolicy[],
  nodes: Iterable<string>,
  selectionOf: (node: string) => PolicySelection,
): readonly PolicyCount[] {
  const applied = new Map<string, number>();
  const conflicts = new Map<string, number>();
  for (const node of nodes) {
    const selection = selectionOf(node);
    if (selection.kind === 'policy') increment(applied, selection.policy.name);
    if (selection.kind === 'conflict') for (const { name } of selection.policies) increment(conflicts, name);
  }
  return policies.map(({ name, mode }) => {
    return { policy: name, mode, nodes: applied.get(name) ?? 0, conflicts: conflicts.get(name) ?? 0 };
  });
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
