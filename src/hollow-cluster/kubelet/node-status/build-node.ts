import type { Node } from '../../../machinery/api/node.ts';
import type { Labels } from '../../../machinery/api/topology.ts';
import type { KubeletProfile } from '../profile.ts';

const architecture = 'amd64';
const operatingSystem = 'linux';
const osLabel = 'kubernetes.io/os';
const architectureLabel = 'kubernetes.io/arch';
const attachDetachAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';

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
  readonly profile: KubeletProfile;
}

/**
 * The node as it is first registered, before its status is filled in. The given labels override the defaults (kubelet
 * `initialNode`).
 */
export function buildNode({ name, labels, profile: { registerWithTaints: taints } }: InitialNodeFacts): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...defaultLabels(name, labels), ...labels },
      annotations: { [attachDetachAnnotation]: 'true' },
    },
    spec: { providerID: `hollow://${name}`, ...(taints.length === 0 ? {} : { taints }) },
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

/**
 * The registered node with the fields that the kubelet owns corrected: the default labels and the attach-detach
 * annotation. Taints, `unschedulable` and the user's labels are not touched (kubelet `tryRegisterWithAPIServer`). Returns
 * the same object if nothing changes.
 */
export function mergeRegisteredNode(registered: Node, fresh: Node): Node {
  return mergeAnnotation(mergeLabels(registered, fresh));
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

function mergeAnnotation(registered: Node): Node {
  if (registered.metadata.annotations?.[attachDetachAnnotation] === 'true') return registered;
  const annotations = { ...registered.metadata.annotations, [attachDetachAnnotation]: 'true' };
  return { ...registered, metadata: { ...registered.metadata, annotations } };
}
