/** How a hollow kubelet behaves in time. The names and defaults are the kubelet configuration's where it has them. */
export interface KubeletProfile {
  readonly leaseDurationSeconds: number;
  /** Share of the lease's duration after which it is renewed. */
  readonly renewIntervalFraction: number;
  /** How often the node's status is computed. */
  readonly nodeStatusUpdateFrequencyMs: number;
  /** How often an unchanged status is written all the same. */
  readonly nodeStatusReportFrequencyMs: number;
  /** While the node has not been ready yet: how often its status is computed, and for how long at that pace. */
  readonly fastStatusPeriodMs: number;
  readonly fastStatusMsMax: number;
  /** How often every pod is looked at again though nothing called for it. */
  readonly syncPeriodMs: number;
  /** How often every pod's status is compared with what the API server has. */
  readonly podStatusPassMs: number;
  /** From the start of a pod to its containers running: pull, create and start together. */
  readonly podStartDelayMs: number;
  /** From the signal to stop to the containers' exit, unless their grace period ends earlier. */
  readonly podStopDelayMs: number;
}

/** A kubelet of the leases' age: the lease is the heartbeat, the status is written when it changed or every 5 minutes. */
export const modernProfile: KubeletProfile = {
  leaseDurationSeconds: 40,
  renewIntervalFraction: 0.25,
  nodeStatusUpdateFrequencyMs: 10_000,
  nodeStatusReportFrequencyMs: 300_000,
  fastStatusPeriodMs: 100,
  fastStatusMsMax: 120_000,
  syncPeriodMs: 60_000,
  podStatusPassMs: 10_000,
  podStartDelayMs: 1_000,
  podStopDelayMs: 1_000,
};

/** How long a heartbeat request may take (upstream: the heartbeat client's timeout). */
export function heartbeatTimeoutMs(profile: KubeletProfile): number {
  return Math.min(profile.nodeStatusUpdateFrequencyMs, profile.leaseDurationSeconds * 1_000);
}

export function renewIntervalMs(profile: KubeletProfile): number {
  return profile.leaseDurationSeconds * 1_000 * profile.renewIntervalFraction;
}

/** What the node claims to be made of. Whole numbers, so that the quantities on the wire are canonical. */
export interface Machine {
  readonly cpuCores: number;
  readonly memoryMiB: number;
  readonly ephemeralStorageMiB: number;
  readonly podsMax: number;
  /** The node's InternalIP. */
  readonly address: string;
  /** The first three parts of its pods' addresses, as in `10.128.0`. */
  readonly podSubnet: string;
}
