import type { Random } from '../../ports/random.ts';
import { between } from '../draw.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import type { Drill, DrillCluster } from './drill-plan.ts';

const waves = 3;
const waveMs = 25_000;
const nodesPerWave = 6;
/** From the deletion of a node until it is forgotten: its pods are collected, and what expires has expired. */
export const forgottenMs = 150_000;

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
