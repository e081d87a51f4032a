/** A kubelet renews its lease this often unless it is told otherwise. */
const renewalMs = 10_000;
/** So many renewals in a row do not fail to come by chance. */
const gapsMissed = 50;
const quietMsMin = 5_000;

/**
 * Silence after which the stream of this many leases counts as dead: fifty times the expected pause between two renewals,
 * and five seconds at least. With a hundred nodes a stream that brings nothing shows in five seconds; with a few the
 * general limit of a watch comes first.
 */
export function planLeaseQuiet(leases: number): number {
  return leases === 0 ? Infinity : Math.max(quietMsMin, (gapsMissed * renewalMs) / leases);
}
