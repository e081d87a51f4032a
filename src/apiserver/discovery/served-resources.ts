/**
 * What the embedded API server serves, as one table. Routing, discovery, printing, OpenAPI and the decoder of request
 * bodies all read it, so a resource that is missing here does not exist anywhere.
 */

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
  /** What is sent or answered there; its group may differ from that of the resource (`pods/eviction`). */
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
  /** It has no objects: a POST is answered from its body, and nothing is stored. */
  readonly review: boolean;
}

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const withoutCollectionDelete = allVerbs.filter((verb) => verb !== 'deletecollection');
const statusVerbs: readonly Verb[] = ['get', 'patch', 'update'];

const collection = { shortNames: [], categories: [], verbs: allVerbs, subresources: [], review: false } as const;
const review = { ...collection, namespaced: false, verbs: ['create'], review: true } as const;

const node: GroupVersionKind = { group: '', version: 'v1', kind: 'Node' };
const pod: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };
const namespace: GroupVersionKind = { group: '', version: 'v1', kind: 'Namespace' };
const daemonSet: GroupVersionKind = { group: 'apps', version: 'v1', kind: 'DaemonSet' };
const binding: GroupVersionKind = { group: '', version: 'v1', kind: 'Binding' };
const eviction: GroupVersionKind = { group: 'policy', version: 'v1', kind: 'Eviction' };
const authorization = { group: 'authorization.k8s.io', version: 'v1' } as const;

/** Everything served, group version by group version, in the order in which discovery tells it. */
export const servedResources: readonly ServedResource[] = [
  {
    ...collection,
    group: '',
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    singular: 'event',
    namespaced: true,
    shortNames: ['ev'],
  },
  {
    ...collection,
    ...namespace,
    plural: 'namespaces',
    singular: 'namespace',
    namespaced: false,
    shortNames: ['ns'],
    verbs: withoutCollectionDelete,
    subresources: [
      { name: 'finalize', responseKind: namespace, verbs: ['update'] },
      { name: 'status', responseKind: namespace, verbs: statusVerbs },
    ],
  },
  {
    ...collection,
    ...node,
    plural: 'nodes',
    singular: 'node',
    namespaced: false,
    shortNames: ['no'],
    subresources: [{ name: 'status', responseKind: node, verbs: statusVerbs }],
  },
  {
    ...collection,
    ...pod,
    plural: 'pods',
    singular: 'pod',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    subresources: [
      { name: 'binding', responseKind: binding, verbs: ['create'] },
      { name: 'eviction', responseKind: eviction, verbs: ['create'] },
      { name: 'log', responseKind: pod, verbs: ['get'] },
      { name: 'status', responseKind: pod, verbs: statusVerbs },
    ],
  },
  {
    ...collection,
    ...daemonSet,
    plural: 'daemonsets',
    singular: 'daemonset',
    namespaced: true,
    shortNames: ['ds'],
    categories: ['all'],
    subresources: [{ name: 'status', responseKind: daemonSet, verbs: statusVerbs }],
  },
  {
    ...collection,
    group: 'events.k8s.io',
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    singular: 'event',
    namespaced: true,
    shortNames: ['ev'],
  },
  {
    ...review,
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    singular: 'selfsubjectreview',
  },
  {
    ...review,
    ...authorization,
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    singular: 'selfsubjectaccessreview',
  },
  {
    ...review,
    ...authorization,
    kind: 'SelfSubjectRulesReview',
    plural: 'selfsubjectrulesreviews',
    singular: 'selfsubjectrulesreview',
  },
  {
    ...collection,
    group: 'coordination.k8s.io',
    version: 'v1',
    kind: 'Lease',
    plural: 'leases',
    singular: 'lease',
    namespaced: true,
  },
];

/** `v1` or `group/version`, as `apiVersion` spells it. */
export function apiVersionOf(kind: Pick<GroupVersionKind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** The resource of that path, or undefined where nothing of the kind is served. */
export function findServedResource(group: string, version: string, plural: string): ServedResource | undefined {
  return servedResources.find(
    (served) => served.group === group && served.version === version && served.plural === plural,
  );
}

/** The resources of one group version; empty where it is not served. */
export function resourcesOf(group: string, version: string): readonly ServedResource[] {
  return servedResources.filter((served) => served.group === group && served.version === version);
}

/** Served groups in order, each with its versions; the core group (`''`) comes first. */
export function servedGroups(): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, version } of servedResources) {
    const versions = groups.get(group) ?? [];
    if (!versions.includes(version)) versions.push(version);
    groups.set(group, versions);
  }
  return groups;
}
