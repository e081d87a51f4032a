/**
 * The resources that the embedded API server serves, as one table. Routing, discovery, printing, OpenAPI and the decoding
 * of request bodies all read it.
 */

import type { FieldError } from './api-errors/field-errors.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** Group, version and kind; the core group is the empty string. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** One path below an object, as in `pods/NAME/binding`. */
export interface ServedSubresource {
  readonly name: string;
  /** Kind of the request or response body; its group may differ from that of the resource (`pods/eviction`). */
  readonly responseKind: GroupVersionKind;
  readonly verbs: readonly Verb[];
}

/** One collection under a group version. */
export interface ServedResource extends GroupVersionKind {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: readonly ServedSubresource[];
  /** A review has no objects: the response to a POST is computed from its body, and nothing is stored. */
  readonly review: boolean;
  /** Of a custom resource only. */
  readonly custom?: CustomDefinition;
}

/** What a CustomResourceDefinition says about a resource, as far as this server serves it. */
interface CustomDefinition {
  /** Structural schema of an object. Fields that it does not have are dropped. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly columns: readonly CustomColumn[];
  /** Problems of an object whose fields the schema has; its types may be wrong. */
  readonly validate: (object: CustomObject) => readonly FieldError[];
}

interface CustomObject {
  readonly metadata: { readonly name?: string };
  readonly [field: string]: unknown;
}

/** A column of `kubectl get` (upstream `additionalPrinterColumns`). */
export interface CustomColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly description: string;
  /** Fields, and `[?(@.FIELD=="VALUE")]` for one item of a list. */
  readonly jsonPath: string;
  readonly priority?: 1;
}

/** The group whose events are those of the core group in another form. */
export const eventsV1Group = 'events.k8s.io';

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const statusVerbs: readonly Verb[] = ['get', 'patch', 'update'];

/** A resource with all verbs and no subresources, unless `over` says otherwise. */
function resource(group: string, kind: string, plural: string, over: Partial<ServedResource> = {}): ServedResource {
  return {
    group,
    version: 'v1',
    kind,
    plural,
    singular: kind.toLowerCase(),
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    subresources: [],
    review: false,
    ...over,
  };
}

function subresource(name: string, verbs: readonly Verb[], group: string, kind: string): ServedSubresource {
  return { name, responseKind: { group, version: 'v1', kind }, verbs };
}

function withStatus(group: string, kind: string, ...more: readonly ServedSubresource[]): Partial<ServedResource> {
  return { subresources: [...more, subresource('status', statusVerbs, group, kind)] };
}

const scale: ServedSubresource = subresource('scale', statusVerbs, 'autoscaling', 'Scale');
const inAll = { categories: ['all'] } as const;
const clusterScoped = { namespaced: false } as const;

function review(group: string, kind: string, namespaced = false): ServedResource {
  const plural = `${kind.toLowerCase()}s`;
  return resource(group, kind, plural, { namespaced, verbs: ['create'], review: true });
}

const extension = { ...clusterScoped, categories: ['api-extensions'] } as const;
const admission = 'admissionregistration.k8s.io';
const networking = 'networking.k8s.io';
const flowControl = 'flowcontrol.apiserver.k8s.io';
const autoscaler = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' } as const;

const rows: readonly ServedResource[] = [
  resource('', 'ConfigMap', 'configmaps', { shortNames: ['cm'] }),
  resource('', 'Endpoints', 'endpoints', { singular: 'endpoints', shortNames: ['ep'] }),
  resource('', 'Event', 'events', { shortNames: ['ev'] }),
  resource('', 'LimitRange', 'limitranges', { shortNames: ['limits'] }),
  resource('', 'Namespace', 'namespaces', {
    namespaced: false,
    shortNames: ['ns'],
    verbs: allVerbs.filter((verb) => verb !== 'deletecollection'),
    subresources: [
      subresource('finalize', ['update'], '', 'Namespace'),
      subresource('status', statusVerbs, '', 'Namespace'),
    ],
  }),
  resource('', 'Node', 'nodes', {
    namespaced: false,
    shortNames: ['no'],
    ...withStatus('', 'Node'),
  }),
  resource('', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    shortNames: ['pvc'],
    ...withStatus('', 'PersistentVolumeClaim'),
  }),
  resource('', 'PersistentVolume', 'persistentvolumes', {
    ...clusterScoped,
    shortNames: ['pv'],
    ...withStatus('', 'PersistentVolume'),
  }),
  resource('', 'Pod', 'pods', {
    shortNames: ['po'],
    categories: ['all'],
    subresources: [
      subresource('binding', ['create'], '', 'Binding'),
      subresource('eviction', ['create'], 'policy', 'Eviction'),
      subresource('log', ['get'], '', 'Pod'),
      subresource('status', statusVerbs, '', 'Pod'),
    ],
  }),
  resource('', 'PodTemplate', 'podtemplates'),
  resource('', 'ReplicationController', 'replicationcontrollers', {
    shortNames: ['rc'],
    ...inAll,
    ...withStatus('', 'ReplicationController', scale),
  }),
  resource('', 'ResourceQuota', 'resourcequotas', { shortNames: ['quota'], ...withStatus('', 'ResourceQuota') }),
  resource('', 'Secret', 'secrets'),
  resource('', 'ServiceAccount', 'serviceaccounts', { shortNames: ['sa'] }),
  resource('', 'Service', 'services', { shortNames: ['svc'], ...inAll, ...withStatus('', 'Service') }),
  resource('apps', 'ControllerRevision', 'controllerrevisions'),
  resource('apps', 'DaemonSet', 'daemonsets', {
    shortNames: ['ds'],
    categories: ['all'],
    subresources: [subresource('status', statusVerbs, 'apps', 'DaemonSet')],
  }),
  resource('apps', 'Deployment', 'deployments', {
    shortNames: ['deploy'],
    ...inAll,
    ...withStatus('apps', 'Deployment', scale),
  }),
  resource('apps', 'ReplicaSet', 'replicasets', {
    shortNames: ['rs'],
    ...inAll,
    ...withStatus('apps', 'ReplicaSet', scale),
  }),
  resource('apps', 'StatefulSet', 'statefulsets', {
    shortNames: ['sts'],
    ...inAll,
    ...withStatus('apps', 'StatefulSet', scale),
  }),
  resource('events.k8s.io', 'Event', 'events', { shortNames: ['ev'] }),
  review('authentication.k8s.io', 'SelfSubjectReview'),
  review('authentication.k8s.io', 'TokenReview'),
  review('authorization.k8s.io', 'LocalSubjectAccessReview', true),
  review('authorization.k8s.io', 'SelfSubjectAccessReview'),
  review('authorization.k8s.io', 'SelfSubjectRulesReview'),
  review('authorization.k8s.io', 'SubjectAccessReview'),
  resource('batch', 'CronJob', 'cronjobs', { shortNames: ['cj'], ...inAll, ...withStatus('batch', 'CronJob') }),
  resource('batch', 'Job', 'jobs', { ...inAll, ...withStatus('batch', 'Job') }),
  resource('coordination.k8s.io', 'Lease', 'leases'),
  resource('discovery.k8s.io', 'EndpointSlice', 'endpointslices'),
  resource('policy', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    shortNames: ['pdb'],
    ...withStatus('policy', 'PodDisruptionBudget'),
  }),
  resource('rbac.authorization.k8s.io', 'ClusterRoleBinding', 'clusterrolebindings', clusterScoped),
  resource('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', clusterScoped),
  resource('rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings'),
  resource('rbac.authorization.k8s.io', 'Role', 'roles'),
  resource('resource.k8s.io', 'DeviceClass', 'deviceclasses', clusterScoped),
  resource('resource.k8s.io', 'ResourceClaim', 'resourceclaims', withStatus('resource.k8s.io', 'ResourceClaim')),
  resource('resource.k8s.io', 'ResourceClaimTemplate', 'resourceclaimtemplates'),
  resource('resource.k8s.io', 'ResourceSlice', 'resourceslices', clusterScoped),
  resource('storage.k8s.io', 'CSIDriver', 'csidrivers', clusterScoped),
  resource('storage.k8s.io', 'CSINode', 'csinodes', clusterScoped),
  resource('storage.k8s.io', 'CSIStorageCapacity', 'csistoragecapacities'),
  resource('storage.k8s.io', 'StorageClass', 'storageclasses', { ...clusterScoped, shortNames: ['sc'] }),
  resource('storage.k8s.io', 'VolumeAttachment', 'volumeattachments', {
    ...clusterScoped,
    ...withStatus('storage.k8s.io', 'VolumeAttachment'),
  }),
  resource('storage.k8s.io', 'VolumeAttributesClass', 'volumeattributesclasses', {
    ...clusterScoped,
    shortNames: ['vac'],
  }),
  resource(autoscaler.group, autoscaler.kind, 'horizontalpodautoscalers', {
    version: autoscaler.version,
    shortNames: ['hpa'],
    ...inAll,
    subresources: [{ name: 'status', responseKind: autoscaler, verbs: statusVerbs }],
  }),
  resource('certificates.k8s.io', 'CertificateSigningRequest', 'certificatesigningrequests', {
    ...clusterScoped,
    shortNames: ['csr'],
    ...withStatus('certificates.k8s.io', 'CertificateSigningRequest'),
  }),
  resource(networking, 'IngressClass', 'ingressclasses', clusterScoped),
  resource(networking, 'Ingress', 'ingresses', { shortNames: ['ing'], ...withStatus(networking, 'Ingress') }),
  resource(networking, 'IPAddress', 'ipaddresses', { ...clusterScoped, shortNames: ['ip'] }),
  resource(networking, 'NetworkPolicy', 'networkpolicies', { shortNames: ['netpol'] }),
  resource(networking, 'ServiceCIDR', 'servicecidrs', { ...clusterScoped, ...withStatus(networking, 'ServiceCIDR') }),
  resource(admission, 'MutatingAdmissionPolicy', 'mutatingadmissionpolicies', extension),
  resource(admission, 'MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', extension),
  resource(admission, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', extension),
  resource(admission, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    ...extension,
    ...withStatus(admission, 'ValidatingAdmissionPolicy'),
  }),
  resource(admission, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', extension),
  resource(admission, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', extension),
  resource('scheduling.k8s.io', 'PriorityClass', 'priorityclasses', { ...clusterScoped, shortNames: ['pc'] }),
  resource('node.k8s.io', 'RuntimeClass', 'runtimeclasses', clusterScoped),
  resource(flowControl, 'FlowSchema', 'flowschemas', { ...clusterScoped, ...withStatus(flowControl, 'FlowSchema') }),
  resource(flowControl, 'PriorityLevelConfiguration', 'prioritylevelconfigurations', {
    ...clusterScoped,
    ...withStatus(flowControl, 'PriorityLevelConfiguration'),
  }),
];

/** The order of kube-apiserver, which decides between groups that have a resource of the same name. */
const groupOrder = [
  '',
  'apps',
  eventsV1Group,
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  networking,
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  admission,
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  flowControl,
];

/** All resources, group version by group version, in the order of the discovery documents. */
export const servedResources: readonly ServedResource[] = [...rows].sort(
  (a, b) => groupOrder.indexOf(a.group) - groupOrder.indexOf(b.group),
);

/** The names of a custom resource, as in its definition. */
type CustomNames = Pick<ServedResource, 'group' | 'version' | 'kind' | 'plural' | 'singular' | 'shortNames'>;

/** A cluster-scoped custom resource with the subresource status. */
export function customResource(names: CustomNames, custom: CustomDefinition): ServedResource {
  const { group, version, kind, plural } = names;
  const status = { name: 'status', responseKind: { group, version, kind }, verbs: statusVerbs };
  return resource(group, kind, plural, { ...names, namespaced: false, subresources: [status], custom });
}

/** `v1` or `group/version`, as `apiVersion` spells it. */
export function apiVersionOf(kind: Pick<GroupVersionKind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/**
 * Name of the table of a resource in the store, as `deployments.apps`; only the plural in the core group. The versions of a
 * resource, and the events of both groups, share a table.
 */
export function tableOf({ group, plural }: Pick<ServedResource, 'group' | 'plural'>): string {
  return group === '' || group === eventsV1Group ? plural : `${plural}.${group}`;
}

/** The resource of that path; undefined if it is not served. */
export function findServedResource(
  group: string,
  version: string,
  plural: string,
  all = servedResources,
): ServedResource | undefined {
  return all.find((served) => served.group === group && served.version === version && served.plural === plural);
}

/** The resources of one group version; empty if it is not served. */
export function resourcesOf(group: string, version: string, all = servedResources): readonly ServedResource[] {
  return all.filter((served) => served.group === group && served.version === version);
}

/** Served groups in order, each with its versions; the core group (`''`) comes first. */
export function servedGroups(all = servedResources): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, version } of all) {
    const versions = groups.get(group) ?? [];
    if (!versions.includes(version)) versions.push(version);
    groups.set(group, versions);
  }
  return groups;
}
