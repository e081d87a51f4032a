import type { Now } from '../model/node-state.ts';
import { formatEstimate } from './format-time.ts';
import type { Hold, NodeReport } from './reports.ts';

const nodesShownMax = 10;

/** The hold of a NoExecute taint until it is known which nodes failed together. */
export function buildAwaitedHolds({ awaited }: Pick<NodeReport, 'awaited'>, now: Now): readonly Hold[] {
  if (awaited === undefined) return [];
  const { nodes, untilMs } = awaited;
  const when = formatEstimate(untilMs, now);
  return [
    {
      kind: 'awaited',
      nodes: nodes.slice(0, nodesShownMax),
      count: nodes.length,
      unblockedBy: [{ kind: 'heartbeats' }, { kind: 'failure-known', when }],
    },
  ];
}
