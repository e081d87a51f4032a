// How long a healthy node may go without a heartbeat: kubelets of one cluster renew at different intervals, and that of a
// node is what it shows.
import { parseTimestamp } from '../../machinery/api/timestamps.ts';

/** So many last intervals are remembered: a single gap or burst does not change their median. */
const intervalsMax = 3;
/** A healthy node has renewed within its interval and this share of it: jitter, the answer, the watch. */
const intervalsUntilOverdue = 1.2;
/** As {@link renewsWithinMs} for the default interval: kubelets renew 10 to 10.4 s after the answer to the last renewal. */
const usuallyWithinMs = 12_000;

/** Adds the time between two renewals, by the clock of the kubelet that wrote both; one that was set back shows none. */
export function addInterval(
  intervalsMs: readonly number[],
  from: string | undefined,
  to: string | undefined,
): readonly number[] {
  const intervalMs = (parseTimestamp(to) ?? NaN) - (parseTimestamp(from) ?? NaN);
  return intervalMs > 0 ? [...intervalsMs, intervalMs].slice(-intervalsMax) : intervalsMs;
}

/** A kubelet renews its lease in this part of its duration. */
const renewalsPerDuration = 4;

interface Cadence {
  /** Observed times between renewals; empty: none was observed. */
  readonly intervalsMs: readonly number[];
  /** Its lease says at which intervals they are to be expected, as in a process that has observed none. */
  readonly lease?: { readonly durationSeconds?: number | undefined } | undefined;
  readonly graceMs: number;
}

/**
 * A healthy node with these intervals has sent a heartbeat within this time: nodes that stop at the same moment sent their last
 * one so long before it at most, and one that has sent none for longer is overdue. Never more than its grace period.
 */
export function renewsWithinMs({ intervalsMs, lease, graceMs }: Cadence): number {
  const statedMs = ((lease?.durationSeconds ?? 0) * 1_000) / renewalsPerDuration;
  const intervalMs = intervalsMs.toSorted((a, b) => a - b)[intervalsMs.length >> 1] ?? statedMs;
  return Math.min(graceMs, Math.max(renewalWindowMs(graceMs), intervalsUntilOverdue * intervalMs));
}

/** As {@link renewsWithinMs} for a node whose intervals are not known. Where grace periods are short, so are renewals. */
export function renewalWindowMs(graceMs: number): number {
  return Math.min(usuallyWithinMs, Math.max(graceMs / 4, graceMs - usuallyWithinMs));
}

/** The last heartbeat of a node. */
export interface LastHeartbeat {
  /** On the health clock. */
  readonly atMs: number;
  /** As its kubelet wrote it, in wall time: another value is another heartbeat, for every process. */
  readonly wallMs: number;
  /** This process has received it. */
  readonly isObserved: boolean;
  /** The next one is sent within this time by a healthy node. */
  readonly renewsWithinMs: number;
  readonly graceMs: number;
}
