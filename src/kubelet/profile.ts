import type { Taint } from '../api/taints.ts';
import type { NodeEventUid } from '../events/derive-node-reference.ts';
import type { EvictionConfig } from './machine/derive-thresholds.ts';
import type { ShutdownGroup } from './machine/plan-shutdown.ts';

export type LeasePhase = 'hash' | 'aligned' | 'random';

/** How a hollow kubelet behaves. The names and defaults are the kubelet configuration's where it has them. */
export interface KubeletProfile extends NodeRegistration, EvictionConfig {
  /** `classic`: as of 1.8, where the status itself is the heartbeat. `modern`: as of 1.36. */
  readonly kind: 'classic' | 'modern';
  readonly leaseDurationSeconds: number;
  /** Share of the lease's duration after which it is renewed. */
  readonly renewIntervalFraction: number;
  /**
   * When the second heartbeat comes, lease and status alike. `hash`: at a phase of the period that follows from the
   * node's name, so that a fleet does not beat as one. `random`: at one left to chance. `aligned`: a period after the
   * first, as kubelets do.
   */
  readonly leasePhase: LeasePhase;
  /** How often the node's status is computed. */
  readonly nodeStatusUpdateFrequencyMs: number;
  /** How often an unchanged status is written all the same. */
  readonly nodeStatusReportFrequencyMs: number;
  /** While the node has not been ready yet: how often its status is computed, and for how long at that pace. */
  readonly fastStatusPeriodMs: number;
  readonly fastStatusMsMax: number;
  /** How often the container runtime is asked how it is. */
  readonly runtimeCheckPeriodMs: number;
  /** A status setter that takes longer than this is left out of that status. */
  readonly statusSetterMsMax: number;
  /** Images in the node's status; -1: all there are. */
  readonly nodeStatusMaxImages: number;
  /** Pods for each core of the machine, up to its `podsMax`; 0: as many as `podsMax` however few its cores. */
  readonly podsPerCore: number;
  /** Whose uid the kubelet's events about its node carry. */
  readonly nodeEventUid: NodeEventUid;
  /** How often every pod is looked at again though nothing called for it. */
  readonly syncPeriodMs: number;
  /** How often every pod's status is compared with what the API server has. */
  readonly podStatusPassMs: number;
  /** From the start of a pod to its containers running: pull, create and start together. */
  readonly podStartDelayMs: number;
  /** From the signal to stop to the containers' exit, unless their grace period ends earlier. */
  readonly podStopDelayMs: number;
  /** How long the node may take to shut down, and the part of that which critical pods get; 0: it just goes. */
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
  /** Instead of the two: how long pods of which priority get. */
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownGroup[];
}

/** How the node is made known to the API server. */
export interface NodeRegistration {
  /** False: somebody else makes the node object; the kubelet only reports its status. */
  readonly registerNode: boolean;
  readonly registerWithTaints: readonly Taint[];
  readonly registerSchedulable: boolean;
  /** Its cloud is somebody else's affair: the node waits for a cloud controller with a taint. */
  readonly externalCloudProvider: boolean;
  /** Its cloud has to make a route to it first. */
  readonly needsRoutes: boolean;
  readonly enableControllerAttachDetach: boolean;
  readonly keepTerminatedPodVolumes: boolean;
}

/** A kubelet of the leases' age: the lease is the heartbeat, the status is written when it changed or every 5 minutes. */
export const modernProfile: KubeletProfile = {
  kind: 'modern',
  leaseDurationSeconds: 40,
  renewIntervalFraction: 0.25,
  leasePhase: 'hash',
  nodeStatusUpdateFrequencyMs: 10_000,
  nodeStatusReportFrequencyMs: 300_000,
  fastStatusPeriodMs: 100,
  fastStatusMsMax: 120_000,
  runtimeCheckPeriodMs: 5_000,
  statusSetterMsMax: 1_000,
  nodeStatusMaxImages: 50,
  podsPerCore: 0,
  nodeEventUid: 'name',
  syncPeriodMs: 60_000,
  podStatusPassMs: 10_000,
  podStartDelayMs: 1_000,
  podStopDelayMs: 1_000,
  registerNode: true,
  registerWithTaints: [],
  registerSchedulable: true,
  externalCloudProvider: false,
  needsRoutes: false,
  enableControllerAttachDetach: true,
  keepTerminatedPodVolumes: false,
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '10%',
    'nodefs.inodesFree': '5%',
    'imagefs.available': '15%',
    'imagefs.inodesFree': '5%',
  },
  evictionSoft: {},
  evictionSoftGracePeriodMs: {},
  evictionMinimumReclaim: {},
  evictionMaxPodGracePeriodMs: 0,
  evictionPressureTransitionPeriodMs: 300_000,
  evictionMonitoringPeriodMs: 10_000,
  shutdownGracePeriodMs: 0,
  shutdownGracePeriodCriticalPodsMs: 0,
  shutdownGracePeriodByPodPriority: [],
};

/** A kubelet of 1.8: no lease, no fast start; the status is written every period whether or not anything changed. */
export const classicProfile: KubeletProfile = {
  ...modernProfile,
  kind: 'classic',
  nodeStatusReportFrequencyMs: modernProfile.nodeStatusUpdateFrequencyMs,
  leasePhase: 'aligned',
};

/**
 * The whole profile from what somebody wants otherwise. Who sets how often the status is computed, and not how often it
 * is reported, has it reported as often (kubelet `SetDefaults_KubeletConfiguration`).
 */
export function completeProfile(wanted: Partial<KubeletProfile> = {}): KubeletProfile {
  const base = wanted.kind === 'classic' ? classicProfile : modernProfile;
  const { nodeStatusUpdateFrequencyMs } = wanted;
  const inherited =
    nodeStatusUpdateFrequencyMs === undefined ? {} : { nodeStatusReportFrequencyMs: nodeStatusUpdateFrequencyMs };
  return { ...base, ...inherited, ...wanted };
}

/** How long a heartbeat request may take (upstream: the heartbeat client's timeout). */
export function heartbeatTimeoutMs(
  profile: Pick<KubeletProfile, 'nodeStatusUpdateFrequencyMs' | 'leaseDurationSeconds'>,
): number {
  return Math.min(profile.nodeStatusUpdateFrequencyMs, profile.leaseDurationSeconds * 1_000);
}

export function renewIntervalMs(profile: KubeletProfile): number {
  return profile.leaseDurationSeconds * 1_000 * profile.renewIntervalFraction;
}

/** What the node claims to be made of. Whole numbers, so that the quantities on the wire are canonical. May be shared. */
export interface Machine {
  readonly cpuCores: number;
  readonly memoryMiB: number;
  readonly ephemeralStorageMiB: number;
  readonly podsMax: number;
  /** The node's InternalIP. */
  readonly address: string;
  /** Of a node with two: the other one, as of the other address family. */
  readonly secondAddress?: string;
  /** The first three parts of its pods' addresses, as in `10.128.0`. */
  readonly podSubnet: string;
  /** Kept back from pods, by resource: `cpu` in cores, the others in MiB. */
  readonly reserved?: Readonly<Partial<Record<'cpu' | 'memory' | 'ephemeral-storage', number>>>;
  /** Huge pages in MiB, by resource name, as `hugepages-2Mi`. */
  readonly hugePages?: Readonly<Record<string, number>>;
  readonly images?: readonly MachineImage[];
  readonly runtimeHandlers?: readonly Readonly<Record<string, unknown>>[];
  readonly features?: Readonly<Record<string, boolean>>;
  readonly declaredFeatures?: readonly string[];
}

/** An image in the machine's store. */
export interface MachineImage {
  readonly digests: readonly string[];
  readonly tags: readonly string[];
  readonly sizeBytes: number;
}
