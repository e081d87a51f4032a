/**
 * The resources that the embedded API server serves, as one table. Routing, discovery, printing, OpenAPI and the decoding
 * of request bodies all read it.
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
}

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

function review(group: string, kind: string): ServedResource {
  const plural = `${kind.toLowerCase()}s`;
  return resource(group, kind, plural, { namespaced: false, verbs: ['create'], review: true });
}

/** All resources, group version by group version, in the order of the discovery documents. */
export const servedResources: readonly ServedResource[] = [
  resource('', 'Event', 'events', { shortNames: ['ev'] }),
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
    subresources: [subresource('status', statusVerbs, '', 'Node')],
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
  resource('apps', 'DaemonSet', 'daemonsets', {
    shortNames: ['ds'],
    categories: ['all'],
    subresources: [subresource('status', statusVerbs, 'apps', 'DaemonSet')],
  }),
  resource('events.k8s.io', 'Event', 'events', { shortNames: ['ev'] }),
  review('authentication.k8s.io', 'SelfSubjectReview'),
  review('authorization.k8s.io', 'SelfSubjectAccessReview'),
  review('authorization.k8s.io', 'SelfSubjectRulesReview'),
  resource('coordination.k8s.io', 'Lease', 'leases'),
];

/** `v1` or `group/version`, as `apiVersion` spells it. */
export function apiVersionOf(kind: Pick<GroupVersionKind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** The resource of that path; undefined if it is not served. */
export function findServedResource(group: string, version: string, plural: string): ServedResource | undefined {
  return servedResources.find(
    (served) => served.group === group && served.version === version && served.plural === plural,
  );
}

/** The resources of one group version; empty if it is not served. */
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
