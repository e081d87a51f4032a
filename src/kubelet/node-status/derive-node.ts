import type { Labels } from '../../api/topology.ts';
import type { Node } from '../../api/node.ts';

const architecture = 'amd64';
const operatingSystem = 'linux';

/** Labels the kubelet owns: put right on a node that is registered already (kubelet `updateDefaultLabels`). */
export const defaultLabelKeys = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
] as const;

/** The node as it is first registered, before its status is filled in. The caller's labels override the defaults. */
export function deriveNode(name: string, labels: Labels): Node {
  const defaults = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': operatingSystem,
    'kubernetes.io/arch': architecture,
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...defaults, ...labels },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: { providerID: `hollow://${name}` },
  };
}

/**
 * The registered node with the fresh one's default labels and attach-detach annotation. Taints, `unschedulable` and
 * labels of the user's own are not touched (kubelet `tryRegisterWithAPIServer`).
 */
export function mergeRegisteredNode(registered: Node, fresh: Node): Node {
  const wanted = Object.entries(fresh.metadata.labels ?? {}).filter(([key]) =>
    (defaultLabelKeys as readonly string[]).includes(key),
  );
  return {
    ...registered,
    metadata: {
      ...registered.metadata,
      labels: { ...registered.metadata.labels, ...Object.fromEntries(wanted) },
      annotations: { ...registered.metadata.annotations, ...fresh.metadata.annotations },
    },
  };
}
