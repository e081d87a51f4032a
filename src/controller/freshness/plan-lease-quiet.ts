/** Default renew interval of a kubelet. */
const renewalMs = 10_000;
/** So many consecutive renewals do not fail by chance. */
const gapsMissed = 50;
const quietMsMin = 5_000;

/**
 * Time without a frame after which the lease watch counts as dead: fifty times the expected interval between two
 * renewals, and at least five seconds. With a hundred nodes a dead watch is detected after five seconds; with a few
 * nodes the general limit of a watch applies first.
 */
export function planLeaseQuiet(leases: number): number {
  return leases === 0 ? Infinity : Math.max(quietMsMin, (gapsMissed * renewalMs) / leases);
}
