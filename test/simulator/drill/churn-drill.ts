import type { Random } from '../../../src/machinery/ports/random.ts';
import { between, oneOf } from '../../../src/simulator/draw.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import type { Drill, DrillCluster } from './drill-plan.ts';

const waves = 3;
const waveMs = 25_000;
const nodesPerWave = 6;
/**
 * From the deletion of a node until it is forgotten: its pods are collected, and what expires has expired. A watch that has
 * stalled is ended within 90 s, the next round of the pod garbage collector begins within 20 s, the quarantine is 40 s, and
 * its end is noticed by the round after, within 20 s.
 */
export const forgottenMs = 190_000;

/** Nodes of new names, in zones of their own, are created with pods, become silent and are deleted. */
export function planChurn(random: Random, { graceMs }: DrillCluster): Drill {
  const acts = Array.from({ length: waves }, (_, index): PlannedFault => {
    const fault = {
      kind: 'temporary-nodes',
      prefix: `temporary-${index}`,
      count: nodesPerWave,
      zone: `t${index}`,
    } as const;
    return { atMs: 100 + index * waveMs, forMs: graceMs + Math.round(between(random, 0, 45_000)), fault };
  });
  const refusal = { kind: 'error-answers', code: 503, from: 'server', verb: 'patch', resource: 'pods' } as const;
  const errors: PlannedFault = {
    atMs: graceMs,
    forMs: waves * waveMs,
    fault: { ...refusal, retryAfterMs: undefined, rate: 0.8 },
  };
  const durationMs = Math.max(...acts.map(({ atMs, forMs }) => atMs + forMs)) + forgottenMs;
  return { name: 'churn', acts: [...acts, errors], durationMs, stuck: [], mayBeLate: true };
}

const deletedNodes = 4;
const downMs = 4_000;
/** From the deletion until watches that deliver nothing are ended. */
const stalledMs = 10_000;

/**
 * Nodes with pods are deleted while no watch delivers anything, and the history is gone when watches are opened again:
 * only the next list shows that the nodes do not exist any more.
 */
export function planUnseenDeletions(random: Random, { graceMs, servers }: DrillCluster): Drill {
  // Before or after they became Unknown.
  const deletedMs = oneOf(random, [20_000, graceMs + 20_000]);
  const isDown = oneOf(random, [true, false]);
  const fault = { kind: 'temporary-nodes', prefix: 'deleted', count: deletedNodes, zone: 't0' } as const;
  const nodes: PlannedFault = { atMs: 100, forMs: deletedMs - 100, fault };
  const hidden = isDown ? serversDown(deletedMs) : watchesLost(deletedMs, servers);
  const durationMs = deletedMs + stalledMs + forgottenMs;
  return { name: 'unseen-deletions', acts: [nodes, ...hidden], durationMs, stuck: [], mayBeLate: true };
}

/** A server that starts has no history. */
function serversDown(deletedMs: number): readonly PlannedFault[] {
  return [{ atMs: deletedMs - 500, forMs: downMs, fault: { kind: 'all-servers-down' } }];
}

function watchesLost(deletedMs: number, servers: readonly string[]): readonly PlannedFault[] {
  const stall = { kind: 'stalled-watch', resource: 'nodes', rate: 1 } as const;
  const after = (kind: 'compaction' | 'watches-ended', atMs: number): readonly PlannedFault[] =>
    servers.map((server) => ({ atMs, forMs: 1, fault: { kind, server } }));
  return [
    { atMs: deletedMs - 500, forMs: stalledMs, fault: stall },
    ...after('compaction', deletedMs + stalledMs - 1_000),
    ...after('watches-ended', deletedMs + stalledMs - 500 + 1),
  ];
}
