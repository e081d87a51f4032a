// `/explain/nodes?state=STATE,...&limit=N&continue=NAME`: nodes that are not in the state ready, or those of the given
// states, by name. `/explain/evictions?limit=N`: the pods that are due first. Both are bounded.
import type { Answer, Route } from '../../machinery/page-server/observability-server.ts';
import { type NodeState, nodeStates } from '../../dashboard/protocol.ts';
import { describeEvictionList, describeNodeList } from '../../controller/report/text/describe-lists.ts';
import type { Snapshot } from '../../controller/report/snapshot.ts';
import { pageAnswer, problem } from './explain-pages.ts';

const limits = { default: 100, max: 500 } as const;

export function listRoutes(snapshot: Pick<Snapshot, 'nodes' | 'evictions'>): readonly Route[] {
  return [
    { path: '/explain/nodes', answer: (url) => nodesAnswer(url, snapshot) },
    { path: '/explain/evictions', answer: (url) => evictionsAnswer(url, snapshot) },
  ];
}

function nodesAnswer(url: URL, snapshot: Pick<Snapshot, 'nodes'>): Answer {
  const states = parseStates(url.searchParams.get('state'));
  const limit = parseLimit(url.searchParams.get('limit'));
  if (typeof states === 'string') return problem(400, 'BadRequest', states);
  if (typeof limit === 'string') return problem(400, 'BadRequest', limit);
  const list = snapshot.nodes({ states, limit, after: url.searchParams.get('continue') ?? '' });
  return pageAnswer(url, { json: list, text: () => describeNodeList(list) });
}

function evictionsAnswer(url: URL, snapshot: Pick<Snapshot, 'evictions'>): Answer {
  const limit = parseLimit(url.searchParams.get('limit'));
  if (typeof limit === 'string') return problem(400, 'BadRequest', limit);
  const list = snapshot.evictions(limit);
  return pageAnswer(url, { json: list, text: () => describeEvictionList(list) });
}

/** A text is the problem. */
function parseStates(text: string | null): ReadonlySet<NodeState> | string {
  const known = new Map<string, NodeState>(nodeStates.map((state) => [state, state]));
  if (text === null) return new Set(nodeStates.filter((state) => state !== 'ready'));
  const states = text.split(',').map((word) => known.get(word));
  const isKnown = (state: NodeState | undefined): state is NodeState => state !== undefined;
  if (states.every(isKnown)) return new Set(states);
  return `state: must be one or more of ${nodeStates.join(', ')}, separated by commas (got ${JSON.stringify(text)})`;
}

function parseLimit(text: string | null): number | string {
  if (text === null) return limits.default;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= limits.max) return limit;
  return `limit: must be an integer >= 1 and <= ${limits.max} (got ${JSON.stringify(text)})`;
}
