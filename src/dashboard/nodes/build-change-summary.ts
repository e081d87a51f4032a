import { describeState } from '../describe-state.ts';
import { formatCounted } from '../page/format-number.ts';
import { type NodeCell, type NodeState, nodeStates } from '../protocol.ts';

/** How many nodes changed to each state, and how many were added and removed, since the last announcement. */
export type ChangeTally = Readonly<Partial<Record<NodeState | 'added' | 'removed', number>>>;

/** `before`: the nodes before the change. */
export function buildChangeTally(
  tally: ChangeTally,
  before: ReadonlyMap<string, NodeCell>,
  {
    nodes = [],
    removedNodes = [],
  }: { readonly nodes?: readonly NodeCell[]; readonly removedNodes?: readonly string[] },
): ChangeTally {
  const result: Partial<Record<NodeState | 'added' | 'removed', number>> = { ...tally };
  const count = (key: NodeState | 'added' | 'removed'): void => {
    result[key] = (result[key] ?? 0) + 1;
  };
  for (const { name, state } of nodes) {
    const known = before.get(name);
    if (known === undefined) count('added');
    else if (known.state !== state) count(state);
  }
  for (const name of removedNodes) if (before.has(name)) count('removed');
  return result;
}

/** One sentence; empty if nothing changed. */
export function describeChanges(tally: ChangeTally): string {
  const parts = nodeStates.flatMap((state) => {
    const count = tally[state] ?? 0;
    return count === 0 ? [] : [`${formatCounted(count, 'node')} now ${describeState(state).label.toLowerCase()}`];
  });
  for (const key of ['added', 'removed'] as const) {
    const count = tally[key] ?? 0;
    if (count > 0) parts.push(`${formatCounted(count, 'node')} ${key}`);
  }
  return parts.length === 0 ? '' : `${parts.join(', ')}.`;
}
