import type { EventDraft } from '../../machinery/api/event.ts';
import { aboutNode, type NodeIdentity } from '../model/subjects.ts';

interface Silence {
  readonly silentMs: number;
  /** Until the grace period ends. */
  readonly leftMs: number;
}

/** Once for each silence of a node, as far as the rate of these Events allows. */
export function nodeOverdue(node: NodeIdentity, { silentMs, leftMs }: Silence): EventDraft {
  const seconds = (ms: number): number => Math.round(ms / 1_000);
  const message = `Node ${node.name} has sent no heartbeat for ${seconds(silentMs)} s, and its grace period ends in ${seconds(leftMs)} s`;
  return { about: aboutNode(node), type: 'Warning', reason: 'NodeHeartbeatOverdue', message };
}
