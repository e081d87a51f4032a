/** The resources that this project reads, writes or serves, and their paths below the API server's root. */
import { policyResource } from './node-lifecycle-policy.ts';

export type ResourceName =
  | 'nodes'
  | 'pods'
  | 'leases'
  | 'events'
  | 'events.events.k8s.io'
  | 'namespaces'
  | 'daemonsets'
  | 'deployments'
  | 'nodelifecyclepolicies'
  | 'evictions.lifecycle.k8s.io';

interface Resource {
  readonly group: string;
  readonly version: string;
  /** Name in the path. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export const resources: Readonly<Record<ResourceName, Resource>> = {
  nodes: { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false },
  pods: { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
  leases: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true },
  events: { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true },
  /** Events in the events.k8s.io form, named as kubectl names them: the objects are those of `events`. */
  'events.events.k8s.io': {
    group: 'events.k8s.io',
    version: 'v1',
    plural: 'events',
    kind: 'Event',
    namespaced: true,
  },
  namespaces: { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
  daemonsets: { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet', namespaced: true },
  deployments: { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true },
  nodelifecyclepolicies: { ...policyResource, namespaced: false },
  'evictions.lifecycle.k8s.io': {
    group: 'lifecycle.k8s.io',
    version: 'v1alpha1',
    plural: 'evictions',
    kind: 'Eviction',
    namespaced: true,
  },
};

/** `v1` or `group/version`, as in `apiVersion`. */
export function groupVersion(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `/api/v1/...` or `/apis/GROUP/VERSION/...`, without a trailing slash. Names are URL-encoded. */
export function resourcePath(
  resource: Resource,
  where: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly subresource?: string | undefined;
  },
): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const parts = [root];
  if (resource.namespaced && where.namespace !== undefined)
    parts.push('namespaces', encodeURIComponent(where.namespace));
  parts.push(resource.plural);
  if (where.name !== undefined) parts.push(encodeURIComponent(where.name));
  if (where.subresource !== undefined) parts.push(where.subresource);
  return parts.join('/');
}

/** Namespace of the kubelets' leases; each lease has its node's name. */
export const nodeLeaseNamespace = 'kube-node-lease';
/** The controller's own lease in that namespace, with `--watch-canary`. */
export const canaryLeaseName = 'node-lifecycle-controller-canary';
/** The lease in which a standby reports nodes that do not answer it, in the same namespace. */
export const witnessLeaseName = 'node-lifecycle-controller-witness';
