// How long and how often each figure is measured.
import type { ClusterSize } from './load-protocol.ts';

export interface Plan extends ClusterSize {
  /** Starts of which only the time is measured, besides the two starts for the other figures. */
  readonly extraStarts: number;
  readonly warmUpMs: number;
  readonly windows: number;
  readonly heartbeatWindowMs: number;
  readonly idleWindowMs: number;
  /** Nodes silenced together in each detection window. */
  readonly batchNodes: number;
  readonly zoneLosses: number;
}

/** Of the windows with and without heartbeats, in which no node may expire. */
export const longGraceMs = 3_600_000;
/**
 * Of the windows in which nodes expire. Nodes renew every 10 s: with less than two and a half intervals, nlc taints a silent node only
 * when it knows whether its neighbours renew (docs/decisions/0011), which no default comes to.
 */
export const shortGraceMs = 30_000;

const batchNodesMax = 40;

export function makePlan(size: ClusterSize, quick: boolean): Plan {
  const batchNodes = Math.max(1, Math.min(batchNodesMax, Math.floor(size.nodes / 10)));
  const plan: Plan = {
    ...size,
    extraStarts: 1,
    // Code is compiled in the first minute.
    warmUpMs: 60_000,
    windows: 3,
    heartbeatWindowMs: 15_000,
    idleWindowMs: 12_000,
    batchNodes,
    zoneLosses: 3,
  };
  if (!quick) return plan;
  return {
    ...plan,
    extraStarts: 0,
    warmUpMs: 5_000,
    windows: 2,
    heartbeatWindowMs: 5_000,
    idleWindowMs: 5_000,
    zoneLosses: 1,
  };
}
