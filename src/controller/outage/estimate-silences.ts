// Estimates when a node became silent that this process did not see becoming silent. The time of its Ready=Unknown is
// when it was written, which may be a minute later. Its lease has the time of the last renewal, by a clock that may be
// wrong. So leases are only compared with each other: nodes with the same last renewal became silent together, and the
// first of them that became Unknown, less its grace period, shows how long after that renewal its last heartbeat arrived.

/** What is known of a silence. Times are on the health clock. */
export interface ObservedSilence {
  readonly zone: string;
  /** When the node became silent, or will without a further heartbeat. */
  readonly atMs: number;
  /** The grace period of the node: it became silent so long after its last heartbeat. */
  readonly graceMs: number;
  /** A healthy node like this one sends a heartbeat within this time. */
  readonly windowMs: number;
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

/**
 * The shortest time from the last renewal, by the clock of the kubelet, to the last heartbeat as it follows from Ready=Unknown,
 * of all nodes renewed for the last time within one window.
 */
export interface RenewalDelays {
  readonly plausible: ReadonlyMap<number, number>;
  /**
   * Less than nothing, by more than a window: the clocks of these kubelets are ahead, or their grace periods were shorter when
   * the nodes became silent. Only where there is no plausible one.
   */
  readonly negative: ReadonlyMap<number, number>;
}

/** Uses the nodes that were found Unknown, except one that was renewed after that. */
export function measureRenewalDelays(silences: Iterable<ObservedSilence>, windowMs: number): RenewalDelays {
  const delays = { plausible: new Map<number, number>(), negative: new Map<number, number>() };
  for (const { atMs, graceMs, renewedAtMs, isMarked } of silences) {
    if (isMarked !== true || renewedAtMs === undefined || renewedAtMs > atMs) continue;
    const delayMs = atMs - graceMs - renewedAtMs;
    const shortest = delayMs < -windowMs ? delays.negative : delays.plausible;
    const slot = slotOf(renewedAtMs, windowMs);
    shortest.set(slot, Math.min(shortest.get(slot) ?? Infinity, delayMs));
  }
  return delays;
}

/** That of the peers: of the nodes whose last renewals are in this window or one beside it. Infinity: there are none. */
function delayOfPeers({ plausible, negative }: RenewalDelays, slot: number): number {
  const [first, second] = [plausible, negative].map((delays) =>
    Math.min(...[slot - 1, slot, slot + 1].map((peers) => delays.get(peers) ?? Infinity)),
  );
  return first === Infinity ? (second ?? Infinity) : (first ?? Infinity);
}

/** When a node became silent, and its last heartbeat. */
interface SilenceTimes {
  readonly atMs: number;
  readonly heartbeatAtMs: number;
}

/**
 * The grace period after which a node that was found Unknown became so. Where probes may show a silence from `earliestMs` on, it
 * may have been as short as that; by how much, its lease shows.
 */
export function graceOfUnknown(
  { atMs, graceMs, renewedAtMs }: Pick<ObservedSilence, 'atMs' | 'graceMs' | 'renewedAtMs'>,
  earliestMs = graceMs,
): number {
  return renewedAtMs === undefined ? graceMs : Math.min(graceMs, Math.max(earliestMs, atMs - renewedAtMs));
}

/** Estimated from other nodes; never later than known. */
export function estimateSilence(
  { atMs, graceMs, renewedAtMs, isMarked }: ObservedSilence,
  delays: RenewalDelays,
  windowMs: number,
): SilenceTimes {
  const delayMs = renewedAtMs === undefined ? Infinity : delayOfPeers(delays, slotOf(renewedAtMs, windowMs));
  if (renewedAtMs === undefined || delayMs === Infinity) return { atMs, heartbeatAtMs: atMs - graceMs };
  // The grace period of a node that was found Unknown may have been another one when it became silent.
  const heartbeatAtMs = Math.min(renewedAtMs + delayMs, isMarked === true ? atMs : atMs - graceMs);
  return { atMs: Math.min(atMs, heartbeatAtMs + graceMs), heartbeatAtMs };
}

function slotOf(renewedAtMs: number, windowMs: number): number {
  return Math.floor(renewedAtMs / windowMs);
}
