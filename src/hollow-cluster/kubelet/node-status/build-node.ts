import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Node } from '../../../machinery/api/node.ts';
import { sameQuantity } from '../../../machinery/api/quantity.ts';
import { hasTaint, type Taint, taintKeys } from '../../../machinery/api/taints.ts';
import { formatTime } from '../../../machinery/api/timestamps.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import type { KubeletProfile, NodeRegistration } from '../profile.ts';
import { networkTexts } from './build-conditions.ts';
import { isHugePages } from './build-machine-info.ts';
import type { Condition } from '../../../machinery/api/conditions.ts';

const architecture = 'amd64';
const operatingSystem = 'linux';
const osLabel = 'kubernetes.io/os';
const architectureLabel = 'kubernetes.io/arch';
const attachDetachAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
const keepVolumesAnnotation = 'volumes.kubernetes.io/keep-terminated-pod-volumes';
const uninitializedTaint: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

/** Labels the kubelet owns: corrected on a node that is already registered (kubelet `updateDefaultLabels`). */
const defaultLabelKeys = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  osLabel,
  architectureLabel,
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
] as const;

interface Platform {
  readonly os: string;
  readonly architecture: string;
}

/** The platform of the kubelet, which its own labels may override. */
export function buildPlatform(labels: Labels): Platform {
  return { os: labels[osLabel] ?? operatingSystem, architecture: labels[architectureLabel] ?? architecture };
}

/** The node with the two labels that every status update corrects (kubelet `updateNode`). */
export function withPlatformLabels(node: Node, platform: Platform): Node {
  const { labels } = node.metadata;
  if (labels?.[osLabel] === platform.os && labels[architectureLabel] === platform.architecture) return node;
  const right = { [osLabel]: platform.os, [architectureLabel]: platform.architecture };
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...right } } };
}

interface InitialNodeFacts {
  readonly name: string;
  readonly labels: Labels;
  readonly profile: NodeRegistration & Pick<KubeletProfile, 'kind'>;
  /** Wall time. */
  readonly nowMs: number;
}

/**
 * The node as it is first registered, before its status is filled in. The given labels override the defaults (kubelet
 * `initialNode`).
 */
export function buildNode({ name, labels, profile, nowMs }: InitialNodeFacts): Node {
  const taints = buildInitialTaints(profile);
  const annotations = {
    ...(profile.enableControllerAttachDetach ? { [attachDetachAnnotation]: 'true' } : {}),
    ...(profile.keepTerminatedPodVolumes ? { [keepVolumesAnnotation]: 'true' } : {}),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...defaultLabels(name, labels), ...labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      providerID: `hollow://${name}`,
      ...(profile.kind === 'v1.8' ? { externalID: name } : {}),
      ...(profile.registerSchedulable ? {} : { unschedulable: true }),
      ...(taints.length === 0 ? {} : { taints }),
    },
    ...(profile.needsRoutes ? { status: { conditions: [networkUnavailable(nowMs)] } } : {}),
  };
}

function defaultLabels(name: string, labels: Labels): Labels {
  const { os, architecture: arch } = buildPlatform(labels);
  return {
    'beta.kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': os,
    [architectureLabel]: arch,
    'kubernetes.io/hostname': name,
    [osLabel]: os,
  };
}

function buildInitialTaints(profile: NodeRegistration): readonly Taint[] {
  const { registerWithTaints, registerSchedulable, externalCloudProvider } = profile;
  const wanted = externalCloudProvider ? [...registerWithTaints, uninitializedTaint] : registerWithTaints;
  if (registerSchedulable || hasTaint(wanted, taintKeys.unschedulable, 'NoSchedule')) return wanted;
  return [...wanted, { key: taintKeys.unschedulable, effect: 'NoSchedule' }];
}

function networkUnavailable(nowMs: number): Condition {
  const { reason, message } = networkTexts.holds;
  return { type: 'NetworkUnavailable', status: 'True', reason, message, lastTransitionTime: formatTime(nowMs) };
}

/**
 * The registered node with the fields that the kubelet owns corrected: the default labels, the attach-detach
 * annotation, sizes of huge pages, and capacity and allocatable if both are absent. Taints, `unschedulable` and the
 * user's labels are not touched (kubelet `tryRegisterWithAPIServer`). Returns the same object if nothing changes.
 */
export function mergeRegisteredNode(registered: Node, fresh: Node): Node {
  return mergeResources(mergeAnnotation(mergeLabels(registered, fresh), fresh), fresh);
}

function mergeLabels(registered: Node, fresh: Node): Node {
  const labels: Record<string, string> = { ...registered.metadata.labels };
  let changed = false;
  for (const key of defaultLabelKeys) {
    const wanted = fresh.metadata.labels?.[key];
    if (wanted === undefined || labels[key] === wanted || (wanted === '' && labels[key] === undefined)) continue;
    if (wanted === '') delete labels[key];
    else labels[key] = wanted;
    changed = true;
  }
  return changed ? { ...registered, metadata: { ...registered.metadata, labels } } : registered;
}

function mergeAnnotation(registered: Node, fresh: Node): Node {
  const wanted = fresh.metadata.annotations?.[attachDetachAnnotation];
  if (registered.metadata.annotations?.[attachDetachAnnotation] === wanted) return registered;
  const { [attachDetachAnnotation]: _, ...others } = registered.metadata.annotations ?? {};
  const annotations = wanted === undefined ? others : { ...others, [attachDetachAnnotation]: wanted };
  return { ...registered, metadata: { ...registered.metadata, annotations } };
}

function mergeResources(registered: Node, fresh: Node): Node {
  const stored = registered.status ?? {};
  const capacity = mergeHugePages(stored.capacity, fresh.status?.capacity);
  const allocatable = mergeHugePages(stored.allocatable, fresh.status?.allocatable);
  if (capacity === stored.capacity && allocatable === stored.allocatable) return registered;
  return {
    ...registered,
    status: { ...stored, ...present('capacity', capacity), ...present('allocatable', allocatable) },
  };
}

function present(name: string, quantities: Quantities): Readonly<Record<string, Quantities>> {
  return quantities === undefined ? {} : { [name]: quantities };
}

type Quantities = Readonly<Record<string, string>> | undefined;

function mergeHugePages(stored: Quantities, wanted: Quantities): Quantities {
  if (stored === undefined || stored === null || wanted === undefined) return stored ?? wanted;
  const pages = Object.entries(wanted).filter(([name]) => isHugePages(name));
  const gone = Object.keys(stored).filter((name) => isHugePages(name) && ownValue(wanted, name) === undefined);
  const changed = pages.some(([name, amount]) => !sameQuantity(ownValue(stored, name) ?? '', amount));
  if (gone.length === 0 && !changed) return stored;
  const kept = Object.entries(stored).filter(([name]) => !gone.includes(name));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(pages) };
}
