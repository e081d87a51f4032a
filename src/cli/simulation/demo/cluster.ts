// The demo cluster: 60 nodes in three zones, five of them in a pool with a policy, each with five pods of four kinds. Times
// are shortened, their proportions are those of a real cluster: a lease is renewed every quarter of its duration, the grace
// period is a little more than four renewals.
import type { KubeObject } from '../../../machinery/api/meta.ts';
import { taintKeys } from '../../../machinery/api/taints.ts';
import type { Toleration } from '../../../machinery/api/tolerations.ts';
import { type ControllerOptions, defaultEvictionModeOptions } from '../../../controller/model/options.ts';
import type { FleetNode } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';
import type { KubeletProfile } from '../../../hollow-cluster/kubelet/profile.ts';
import { decodePolicies } from '../../../policy/schema/decode-policies.ts';

const zones = ['a', 'b', 'c'] as const;
export const nodesPerZone = 20;
const region = 'demo';

/** The pool with a policy: it waits longer, and keeps its pods while more of its nodes are unhealthy than its limit. */
export const edgePool = 'edge';
export const edgeNodes = nodeNames('c').slice(-5);
export const edgeLimit = 1;
export const edgeGraceMs = 7_500;
const poolLabel = 'demo.example.com/pool';

const policies = decodePolicies([
  {
    name: edgePool,
    nodeSelector: { matchLabels: { [poolLabel]: edgePool } },
    nodeMonitorGracePeriod: `${edgeGraceMs}ms`,
    limits: { maxUnhealthy: { count: edgeLimit }, cooldown: '3s' },
  },
]);

/** In a real cluster: 50 s, 5 s, 0.1/s, 0.01/s, 50 nodes and 300 s (the same pod marking rate). */
export const demoControllerOptions: ControllerOptions = {
  nodeMonitorPeriodMs: 1_000,
  nodeMonitorGracePeriodMs: 4_500,
  nodeMonitorResyncPeriodMs: 5_000,
  leaseConfirmationHoldMs: 6_000,
  staleWatchHoldMs: 6_000,
  nodeStartupGracePeriodMs: 15_000,
  nodeEvictionRate: 1,
  secondaryNodeEvictionRate: 0.2,
  fullDisruptionEvictionRate: undefined,
  podMarkingRate: 10,
  controlPlanePathFailureHoldMs: 30_000,
  largeClusterSizeThreshold: 10,
  unhealthyZoneThreshold: 0.55,
  evictReachableTimeoutMs: 60_000,
  policies,
  policySource: 'file',
  paused: false,
  ...defaultEvictionModeOptions,
};
export const defaultTolerationSeconds = 2;
export const longTolerationSeconds = 30;

export const demoProfile: Partial<KubeletProfile> = {
  leaseDurationSeconds: 4,
  nodeStatusUpdateFrequencyMs: 1_000,
  nodeStatusReportFrequencyMs: 300_000,
  podStartDelayMs: 200,
  podStopDelayMs: 200,
  podStatusPassMs: 2_000,
};

export function nodeNames(zone: string, count: number = nodesPerZone): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${zone}-${String(index + 1).padStart(2, '0')}`);
}

export function allNodeNames(): readonly string[] {
  return zones.flatMap((zone) => nodeNames(zone));
}

/** The zone key that the controller uses. */
export function zoneKey(zone: string): string {
  return `${region}/${zone}`;
}

export function fleetNodes(): readonly FleetNode[] {
  return zones.flatMap((zone) => {
    const labels = { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': zone };
    return nodeNames(zone).map((name) => {
      return { name, labels: edgeNodes.includes(name) ? { ...labels, [poolLabel]: edgePool } : labels };
    });
  });
}

/** The tolerations of a pod, which determine what happens when its node becomes silent. */
export type PodKind = 'default-toleration' | 'tolerates-30s' | 'tolerates-forever' | 'daemon';

const kindsOnEachNode: readonly PodKind[] = [
  'default-toleration',
  'default-toleration',
  'tolerates-30s',
  'tolerates-forever',
  'daemon',
];

export function kindOf(podName: string): PodKind | undefined {
  return kindsOnEachNode.find((kind) => podName.startsWith(`${kind}-`));
}

export const podsPerNode = kindsOnEachNode.length;

/** Five pods bound to this node. The demo has no scheduler, so an evicted pod is not recreated on another node. */
export function podsOf(node: string): readonly KubeObject[] {
  return kindsOnEachNode.map((kind, index) => aPod(kind, `${kind}-${index}-${node}`, node));
}

function aPod(kind: PodKind, name: string, node: string): KubeObject {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'daemon',
    uid: '00000000-0000-4000-8000-00000000d0d0',
    controller: true,
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: kind === 'daemon' ? 'kube-system' : 'default',
      name,
      labels: { app: kind },
      ...(kind === 'daemon' ? { ownerReferences: [owner] } : {}),
    },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'registry.example/main:1' }],
      ...tolerationsOf(kind),
    },
  };
  return pod;
}

/** A pod without own tolerations gets the API server's default tolerationSeconds for each of the two taints. */
function tolerationsOf(kind: PodKind): { readonly tolerations?: readonly Toleration[] } {
  switch (kind) {
    case 'default-toleration':
      return {};
    case 'tolerates-30s':
      return { tolerations: healthTolerations({ tolerationSeconds: longTolerationSeconds }) };
    case 'tolerates-forever':
    case 'daemon':
      return { tolerations: healthTolerations({}) };
  }
}

function healthTolerations(extra: Partial<Toleration>): readonly Toleration[] {
  const keys = [taintKeys.notReady, taintKeys.unreachable];
  return keys.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', ...extra }));
}
