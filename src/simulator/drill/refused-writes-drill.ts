import type { Random } from '../../machinery/ports/random.ts';
import { oneOf } from '../draw.ts';
import type { PlannedFault } from '../faults/world-fault.ts';
import { type Drill, type DrillCluster, drawNodes, silenceOf, tailMs } from './drill-plan.ts';

/** The longest delay of a retry, whatever was refused before. */
export const retriedMs = 30_000;
/** By then a node that is silent from the beginning is Unknown and has its taints. */
const taintedMs = 15_000;
/** Until the token for a NoExecute taint, at the lowest rate, and the toleration of a pod. */
const pendingMs = 80_000;

/** What is refused. */
const kinds = [
  { verb: 'patch', resource: 'nodes' },
  { verb: 'patch', resource: 'nodes' },
  { verb: 'patch', resource: 'pods' },
  { verb: 'delete', resource: 'pods' },
] as const;

/**
 * A proxy refuses the controller's writes of one kind, in some seeds for so long that retries are far apart, and then no
 * more: what is due is done within the longest delay of a retry. A node is silent, or has recovered meanwhile.
 */
export function planRefusedWrites(random: Random, cluster: DrillCluster): Drill | undefined {
  const names = drawNodes(random, cluster);
  const kind = oneOf(random, kinds);
  const code = oneOf(random, [403, 404, 409, 500, 503] as const);
  const refusedMs = oneOf(random, [30_000, 110_000, 170_000]);
  const recovers = oneOf(random, [false, true]) && kind.resource === 'nodes';
  if (names.length === 0) return undefined;
  const fromMs = recovers ? cluster.graceMs + taintedMs : 50;
  const acceptedFromMs = cluster.graceMs + taintedMs + refusedMs;
  const durationMs = acceptedFromMs + retriedMs + pendingMs + tailMs;
  const refusal: PlannedFault = {
    atMs: fromMs,
    forMs: acceptedFromMs - fromMs,
    fault: { kind: 'error-answers', code, from: 'proxy', ...kind, retryAfterMs: undefined, rate: 1 },
  };
  const silence = silenceOf(names, 100, recovers ? fromMs : durationMs);
  return { name: 'refused-writes', acts: [refusal, silence], durationMs, stuck: [], acceptedFromMs };
}
