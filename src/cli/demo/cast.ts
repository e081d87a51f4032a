// Who plays: sixty nodes in three zones, and on each of them five pods of four kinds. Times are shortened, proportions
// are not: a lease is renewed four times in its life, and the grace period is four renewals long and a little more.
import type { KubeObject } from '../../api/meta.ts';
import { taintKeys } from '../../api/taints.ts';
import type { Toleration } from '../../api/tolerations.ts';
import { type ControllerOptions, defaultEvictionModeOptions } from '../../controller/options.ts';
import type { FleetNode } from '../../kubelet/fleet.ts';
import type { KubeletProfile } from '../../kubelet/profile.ts';

export const zones = ['a', 'b', 'c'] as const;
export const nodesPerZone = 20;
export const region = 'demo';

/** 50 s, 5 s, 0.1/s, 0.01/s, 50 nodes and 300 s in a real cluster (pods marked at the same rate). */
export const demoControllerOptions: ControllerOptions = {
  nodeMonitorPeriodMs: 1_000,
  nodeMonitorGracePeriodMs: 4_500,
  nodeStartupGracePeriodMs: 15_000,
  nodeEvictionRate: 1,
  secondaryNodeEvictionRate: 0.2,
  fullDisruptionEvictionRate: undefined,
  podMarkingRate: 10,
  controlPlanePathFailureHoldMs: 30_000,
  largeClusterSizeThreshold: 10,
  unhealthyZoneThreshold: 0.55,
  ...defaultEvictionModeOptions,
};
export const defaultTolerationSeconds = 2;
export const patienceSeconds = 30;

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

/** As the controller names it. */
export function zoneKey(zone: string): string {
  return `${region}/${zone}`;
}

export function fleetNodes(): readonly FleetNode[] {
  return zones.flatMap((zone) => {
    const labels = { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': zone };
    return nodeNames(zone).map((name) => ({ name, labels }));
  });
}

/** What a pod does when its node falls silent. */
export type PodKind = 'plain' | 'patient' | 'for-ever' | 'daemon';

const kindsOnEachNode: readonly PodKind[] = ['plain', 'plain', 'patient', 'for-ever', 'daemon'];

export function kindOf(podName: string): PodKind | undefined {
  return kindsOnEachNode.find((kind) => podName.startsWith(`${kind}-`));
}

export const podsPerNode = kindsOnEachNode.length;

/** Five pods bound to this node; there is no scheduler in the demo, so an evicted pod is not made again elsewhere. */
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

/** A plain pod gets the API server's default: so many seconds for each of the two taints. */
function tolerationsOf(kind: PodKind): { readonly tolerations?: readonly Toleration[] } {
  switch (kind) {
    case 'plain':
      return {};
    case 'patient':
      return { tolerations: healthTolerations({ tolerationSeconds: patienceSeconds }) };
    case 'for-ever':
    case 'daemon':
      return { tolerations: healthTolerations({}) };
  }
}

function healthTolerations(extra: Partial<Toleration>): readonly Toleration[] {
  const keys = [taintKeys.notReady, taintKeys.unreachable];
  return keys.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', ...extra }));
}
