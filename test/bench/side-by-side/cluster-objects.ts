// Nodes, pods and leases as in real clusters, as the load generator writes them: a node of 6 KB and a pod of 4 KB as JSON,
// with the managed fields that kube-apiserver adds.
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { envelope, field, message } from '../../support/protobuf-writer.ts';
import { podNamespace, zoneOf } from './cluster-names.ts';

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
const podConditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'] as const;
const imagesOfNode = 20;
const variablesOfContainer = 8;
const digest = '0123456789abcdef'.repeat(4);
const count = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);

export function nodeObject(name: string, atMs: number): object {
  const labels = {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'm5.large',
    'topology.kubernetes.io/region': 'eu-west-1',
    'topology.kubernetes.io/zone': `eu-west-1${zoneOf(name)}`,
  };
  const resources = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    metadata: { name, labels, annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } },
    spec: { providerID: `aws:///eu-west-1${zoneOf(name)}/${name}` },
    status: {
      ...nodeStatus(atMs),
      capacity: resources,
      allocatable: resources,
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      nodeInfo: nodeInfo(name),
      images: count(imagesOfNode).map((n) => ({
        names: [`registry.example.com/shop/image-${n}@sha256:${digest}`],
        sizeBytes: 123_456_789,
      })),
    },
  };
}

function nodeInfo(name: string): object {
  return {
    machineID: name,
    systemUUID: name,
    bootID: `boot-of-${name}`,
    kernelVersion: '6.12.0',
    osImage: 'Linux',
    containerRuntimeVersion: 'containerd://2.1.0',
    kubeletVersion: 'v1.37.2',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  };
}

/** The conditions that a healthy kubelet posts: `unchanged` ones keep the time of their last transition. */
export function nodeStatus(atMs: number, unchanged = false): { readonly conditions: readonly object[] } {
  const at = formatTime(atMs);
  const times = { lastHeartbeatTime: at, ...(unchanged ? {} : { lastTransitionTime: at }) };
  const reported = (type: string, status: string): object => ({
    type,
    status,
    reason: `Kubelet${type}`,
    message: `kubelet reports ${type} ${status}`,
    ...times,
  });
  return { conditions: [...pressures.map((type) => reported(type, 'False')), reported('Ready', 'True')] };
}

/** The conditions that a controller writes when a kubelet is silent. */
export function unknownStatus(atMs: number): { readonly conditions: readonly object[] } {
  const about = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const conditions = [...pressures, 'Ready'].map((type) => ({
    type,
    status: 'Unknown',
    lastTransitionTime: formatTime(atMs),
    ...about,
  }));
  return { conditions };
}

/** The NoExecute taint of a node that was unreachable. */
export function unreachableTaint(atMs: number): object {
  return { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: formatTime(atMs) };
}

/** Both taints of a node that is unreachable. */
export function healthTaints(atMs: number): readonly object[] {
  const taint = unreachableTaint(atMs);
  return [taint, { ...taint, effect: 'NoSchedule' }];
}

export function podObject(name: string, node: string): object {
  const workload = `workload-${name.at(-1)}`;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${workload}-5d4f8c7b9`, uid: `uid-of-${workload}` };
  return {
    metadata: {
      name,
      namespace: podNamespace,
      labels: {
        'app.kubernetes.io/name': workload,
        'app.kubernetes.io/part-of': 'shop',
        'pod-template-hash': '5d4f8c7b9',
      },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: {
      nodeName: node,
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/shop/main:1.2.3',
          env: count(variablesOfContainer).map((n) => ({ name: `VARIABLE_${n}`, value: `value-of-variable-${n}` })),
        },
      ],
    },
  };
}

export function podStatus(atMs: number): object {
  const at = formatTime(atMs);
  return {
    phase: 'Running',
    conditions: podConditions.map((type) => ({ type, status: 'True', lastTransitionTime: at })),
    hostIP: '10.0.0.1',
    podIP: '10.1.0.1',
    startTime: at,
    containerStatuses: [
      {
        name: 'main',
        ready: true,
        restartCount: 0,
        image: 'registry.example.com/shop/main:1.2.3',
        imageID: `registry.example.com/shop/main@sha256:${digest}`,
        state: { running: { startedAt: at } },
      },
    ],
  };
}

/** A lease as protobuf, as kubelets write it; without a version it is created. */
export function leaseBytes(node: string, renewedAtMs: number, version = ''): Buffer {
  const seconds = Math.floor(renewedAtMs / 1_000);
  const micros = Math.floor((renewedAtMs - seconds * 1_000) * 1_000);
  const owner = message(field(1, 'Node'), field(3, node), field(4, `uid-of-${node}`), field(5, 'v1'));
  const metadata = message(field(1, node), field(3, 'kube-node-lease'), field(6, version), field(13, owner));
  const renewTime = message(field(1, seconds), field(2, micros * 1_000));
  const spec = message(field(1, node), field(2, 40), field(4, renewTime));
  return envelope('coordination.k8s.io/v1', 'Lease', message(field(1, metadata), field(2, spec)));
}
