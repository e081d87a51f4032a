// Estimates when a node became silent that this process did not see becoming silent. The time of its Ready=Unknown is
// when it was written, which may be a minute later. Its lease has the time of the last renewal, by a clock that may be
// wrong. So leases are only compared with each other: nodes with the same last renewal became silent together, and the
// first of them that became Unknown shows how long after that renewal it was.
import type { Silence } from './classify-outage.ts';

/** What is known of a silence. Times are on the health clock. */
export interface ObservedSilence extends Silence {
  /** The node is labelled as part of the control plane. */
  readonly isControlPlane?: boolean;
  /**
   * The last renewal of the node's lease, by the clock of its kubelet. Only of a node from which this process has
   * received no heartbeat: otherwise `atMs` is exact.
   */
  readonly renewedAtMs?: number | undefined;
  /** Ready=Unknown was found, and `atMs` is when it was written: the node became silent then or before. */
  readonly isMarked?: boolean;
}

/** The shortest time from the last renewal to Ready=Unknown, of all nodes renewed for the last time within one window. */
export type MarkDelays = ReadonlyMap<number, number>;

/**
 * Uses the nodes that were found Unknown. A renewal after that time shows nothing about the silence, or a clock that is
 * far ahead: such a node is left out.
 */
export function measureMarkDelays(silences: Iterable<ObservedSilence>, windowMs: number): MarkDelays {
  const shortest = new Map<number, number>();
  for (const { atMs, renewedAtMs, isMarked } of silences) {
    if (isMarked !== true || renewedAtMs === undefined || renewedAtMs > atMs) continue;
    const slot = slotOf(renewedAtMs, windowMs);
    shortest.set(slot, Math.min(shortest.get(slot) ?? Infinity, atMs - renewedAtMs));
  }
  return shortest;
}

/** When the node became silent, estimated from other nodes; never later than known. */
export function estimateSilenceMs(
  { atMs, renewedAtMs }: ObservedSilence,
  delays: MarkDelays,
  windowMs: number,
): number {
  if (renewedAtMs === undefined) return atMs;
  const slot = slotOf(renewedAtMs, windowMs);
  const ofPeers = [slot - 1, slot, slot + 1].map((peers) => delays.get(peers) ?? Infinity);
  return Math.min(atMs, renewedAtMs + Math.min(...ofPeers));
}

function slotOf(renewedAtMs: number, windowMs: number): number {
  return Math.floor(renewedAtMs / windowMs);
}
