import type { Taint } from '../../machinery/api/taints.ts';
import type { TextPattern } from './parse-pattern.ts';

export type LeasePhase = 'hash' | 'aligned' | 'random';

/** Behaviour of a hollow kubelet. Names and defaults are those of the kubelet configuration where it has them. */
export interface KubeletProfile {
  /** Which heartbeats are simulated: those of a current release, or those of v1.8, whose status itself is the heartbeat. */
  readonly kind: 'v1.8' | 'v1.37';
  readonly leaseDurationSeconds: number;
  /** Fraction of the lease duration after which the lease is renewed. */
  readonly renewIntervalFraction: number;
  /**
   * When the second heartbeat is sent, for lease and status alike. `hash`: at an offset in the period that depends on
   * the node's name, so that the nodes of a fleet do not heartbeat together. `random`: at a random offset. `aligned`:
   * one period after the first, as real kubelets do.
   */
  readonly leasePhase: LeasePhase;
  /** Period in which the node's status is computed. */
  readonly nodeStatusUpdateFrequencyMs: number;
  /** Period in which an unchanged status is written. */
  readonly nodeStatusReportFrequencyMs: number;
  /**
   * Fast start, until the node is ready for the first time: the period of status computation, and its maximum duration.
   */
  readonly fastStatusPeriodMs: number;
  readonly fastStatusMsMax: number;
  /** Period of the container runtime check. */
  readonly runtimeCheckPeriodMs: number;
  /** Resync period of each pod. */
  readonly syncPeriodMs: number;
  /** Period in which every pod's status is compared with the API server's. */
  readonly podStatusPassMs: number;
  /** Time from the start of a pod until its containers run: pull, create and start together. */
  readonly podStartDelayMs: number;
  /** Time from the stop signal until the containers exit, unless their grace period ends earlier. */
  readonly podStopDelayMs: number;
  /** The containers of a Job's pods exit with 0 after this time; undefined: they run until they are stopped. */
  readonly jobPodDurationMs: number | undefined;
  /** Every pull of an image that matches one of these fails. Shared by the nodes of a fleet. */
  readonly unpullableImages: readonly TextPattern[];
  /** Total time of a graceful node shutdown, and the part of it for critical pods; 0: no graceful shutdown. */
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
  /** Taints of the node at its registration. */
  readonly registerWithTaints: readonly Taint[];
}

/** v1.37: the lease is the heartbeat, the status is written when it changed or every 5 minutes. */
export const profileV137: KubeletProfile = {
  kind: 'v1.37',
  leaseDurationSeconds: 40,
  renewIntervalFraction: 0.25,
  leasePhase: 'hash',
  nodeStatusUpdateFrequencyMs: 10_000,
  nodeStatusReportFrequencyMs: 300_000,
  fastStatusPeriodMs: 100,
  fastStatusMsMax: 120_000,
  runtimeCheckPeriodMs: 5_000,
  syncPeriodMs: 60_000,
  podStatusPassMs: 10_000,
  podStartDelayMs: 1_000,
  podStopDelayMs: 1_000,
  jobPodDurationMs: undefined,
  unpullableImages: [],
  registerWithTaints: [],
  shutdownGracePeriodMs: 0,
  shutdownGracePeriodCriticalPodsMs: 0,
};

/** v1.8: no lease, no fast start; the status is written every period whether or not it changed. */
const profileV18: KubeletProfile = {
  ...profileV137,
  kind: 'v1.8',
  nodeStatusReportFrequencyMs: profileV137.nodeStatusUpdateFrequencyMs,
  leasePhase: 'aligned',
};

/**
 * A complete profile from overrides. If only the update frequency of the status is set, the report frequency is the
 * same (kubelet `SetDefaults_KubeletConfiguration`).
 */
export function completeProfile(wanted: Partial<KubeletProfile> = {}): KubeletProfile {
  const base = wanted.kind === 'v1.8' ? profileV18 : profileV137;
  const { nodeStatusUpdateFrequencyMs } = wanted;
  const inherited =
    nodeStatusUpdateFrequencyMs === undefined ? {} : { nodeStatusReportFrequencyMs: nodeStatusUpdateFrequencyMs };
  return { ...base, ...inherited, ...wanted };
}

/** Timeout of a heartbeat request (upstream: the heartbeat client's timeout). */
export function heartbeatTimeoutMs(
  profile: Pick<KubeletProfile, 'nodeStatusUpdateFrequencyMs' | 'leaseDurationSeconds'>,
): number {
  return Math.min(profile.nodeStatusUpdateFrequencyMs, profile.leaseDurationSeconds * 1_000);
}

export function renewIntervalMs(profile: KubeletProfile): number {
  return profile.leaseDurationSeconds * 1_000 * profile.renewIntervalFraction;
}

/** The hardware of a machine. Integers, so that the quantities on the wire are canonical. May be shared. */
export interface Machine {
  readonly cpuCores: number;
  readonly memoryMiB: number;
  readonly ephemeralStorageMiB: number;
  readonly podsMax: number;
  /** The node's InternalIP. */
  readonly address: string;
  /** The first three octets of its pods' addresses, such as `10.128.0`. */
  readonly podSubnet: string;
}
