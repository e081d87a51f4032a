// Decides whether evidence is younger than the last heartbeat of its node. A machine that was fenced sends none after it.
import { findCondition } from '../../machinery/api/conditions.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { clockSkewMs, parseTimestamp } from '../../machinery/api/timestamps.ts';
import type { FencingEvidence } from './select-evidence.ts';

/** `newer`: than the last heartbeat. `disproved`: a heartbeat came after it. `unknown`: nothing shows the order. */
export type EvidenceOrder = 'newer' | 'disproved' | 'unknown';

interface OrderEvidence {
  /** Order as this process observed it. */
  readonly observed: EvidenceOrder;
  readonly node: Pick<NodeView, 'conditions'>;
  /** `renewTime` of the lease of the node. */
  readonly renewedAt: string | undefined;
}

/**
 * What was observed decides, except that evidence whose own time is older than the last heartbeat proves nothing. Where nothing
 * was observed, a time proves the order only against every clock that is involved: that of the kubelet, which wrote the last
 * renewal and the last status, and that of the controller, which wrote Unknown after them. They may differ by
 * {@link clockSkewMs} from the one of the client that set the evidence.
 */
export function decideOrder({ atMs }: FencingEvidence, { observed, node, renewedAt }: OrderEvidence): EvidenceOrder {
  if (observed === 'disproved' || atMs === undefined) return observed;
  const ready = findCondition(node.conditions, 'Ready');
  const heartbeatMs = latest(renewedAt, ready?.lastHeartbeatTime);
  if (atMs < heartbeatMs - clockSkewMs) return 'disproved';
  const unknownMs = ready?.status === 'Unknown' ? parseTimestamp(ready.lastTransitionTime) : undefined;
  const isTimed = unknownMs !== undefined && atMs >= Math.max(heartbeatMs, unknownMs) + clockSkewMs;
  return isTimed ? 'newer' : observed;
}

function latest(...times: readonly (string | null | undefined)[]): number {
  return Math.max(-Infinity, ...times.map((text) => parseTimestamp(text) ?? -Infinity));
}
