import { type NodeCell, type NodeState, nodeStates } from '../protocol.ts';
import type { NodeFilter, SortKey } from '../page/parse-route.ts';

const collator = new Intl.Collator('en', { numeric: true });

/** Names of the nodes by zone, then by name; numbers in names by value. */
export function selectOrder(nodes: ReadonlyMap<string, NodeCell>): readonly string[] {
  return [...nodes.values()]
    .sort((a, b) => collator.compare(a.zone, b.zone) || collator.compare(a.name, b.name))
    .map(({ name }) => name);
}

/**
 * The nodes that the filter selects by what seldom changes: zone, policy, name. The grid shows all of them, so that a cell
 * keeps its place when its state changes.
 */
export function selectPlaced(
  nodes: ReadonlyMap<string, NodeCell>,
  order: readonly string[],
  { zone, policy, name }: NodeFilter,
): readonly NodeCell[] {
  const wanted = name.toLowerCase();
  const isWanted = (node: NodeCell): boolean =>
    (zone === null || node.zone === zone) &&
    (policy === null || (node.policy ?? '') === policy) &&
    (wanted === '' || node.name.toLowerCase().includes(wanted));
  return order.flatMap((key) => {
    const node = nodes.get(key);
    return node !== undefined && isWanted(node) ? [node] : [];
  });
}

export function selectStates(nodes: readonly NodeCell[], states: readonly NodeState[]): readonly NodeCell[] {
  if (states.length === 0) return nodes;
  const wanted = new Set(states);
  return nodes.filter(({ state }) => wanted.has(state));
}

export function buildTally(nodes: readonly NodeCell[]): Readonly<Record<NodeState, number>> {
  const tally: Record<NodeState, number> = {
    ready: 0,
    'not-ready': 0,
    suspect: 0,
    unreachable: 0,
    tainted: 0,
    emptying: 0,
    maintenance: 0,
    paused: 0,
  };
  for (const { state } of nodes) tally[state] += 1;
  return tally;
}

const severity = new Map(nodeStates.map((state, index) => [state, index]));
const last = '\uFFFF';

const comparisons: Readonly<Record<SortKey, (a: NodeCell, b: NodeCell) => number>> = {
  name: (a, b) => collator.compare(a.name, b.name),
  zone: (a, b) => collator.compare(a.zone, b.zone),
  policy: (a, b) => collator.compare(a.policy ?? '', b.policy ?? ''),
  state: (a, b) => (severity.get(a.state) ?? 0) - (severity.get(b.state) ?? 0),
  since: (a, b) => Date.parse(a.since) - Date.parse(b.since),
  pods: (a, b) => a.pods - b.pods,
  held: (a, b) => compareText(a.held ?? last, b.held ?? last),
  next: (a, b) => compareText(a.next?.at ?? last, b.next?.at ?? last),
};

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Nodes that are equal by the key keep their order, in both directions. */
export function selectSorted(nodes: readonly NodeCell[], key: SortKey, descending: boolean): readonly NodeCell[] {
  const compare = comparisons[key];
  return [...nodes].sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
}

interface Page<T> {
  readonly rows: readonly T[];
  /** Number of the page, from 1. */
  readonly page: number;
  readonly pages: number;
  /** Index of the first row. */
  readonly first: number;
}

/** A page that does not exist becomes the last one. */
export function selectPage<T>(all: readonly T[], wanted: number, size: number): Page<T> {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const page = Math.min(Math.max(1, wanted), pages);
  const first = (page - 1) * size;
  return { rows: all.slice(first, first + size), page, pages, first };
}

/** Names in the order in which they are to be offered. */
export function selectPolicies(nodes: ReadonlyMap<string, NodeCell>): readonly string[] {
  const names = new Set([...nodes.values()].map(({ policy }) => policy ?? ''));
  return [...names].sort(collator.compare);
}

export function selectZones(nodes: ReadonlyMap<string, NodeCell>): readonly string[] {
  return [...new Set([...nodes.values()].map(({ zone }) => zone))].sort(collator.compare);
}

export function isFiltering({ zone, policy, states, name }: NodeFilter): boolean {
  return zone !== null || policy !== null || states.length > 0 || name !== '';
}
