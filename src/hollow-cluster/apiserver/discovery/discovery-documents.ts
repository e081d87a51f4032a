/**
 * The discovery documents, derived from `servedResources`: the aggregated form, which current clients request
 * first, and the older form with one document per group version, which `kubectl drain` and `auth can-i` still read.
 */
import {
  apiVersionOf,
  type GroupVersionKind,
  resourcesOf,
  type ServedResource,
  servedResources,
  type ServedSubresource,
  servedGroups,
} from '../resources.ts';

/** A document that is sent without further encoding rules. */
export type DiscoveryDocument = Readonly<Record<string, unknown>>;

/** Parameters of the media type of the aggregated documents; clients reject a response without them. */
export const aggregatedDiscoveryParameters = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
export const aggregatedDiscoveryKind = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' } as const;

/** `APIGroupDiscoveryList` for `/api` (the core group alone) or `/apis` (all others), upstream `apidiscovery.k8s.io/v2`. */
export function aggregatedDiscovery(root: '/api' | '/apis', all = servedResources): DiscoveryDocument {
  return {
    ...aggregatedDiscoveryKind,
    metadata: {},
    items: [...servedGroups(all)]
      .filter(([group]) => (group === '') === (root === '/api'))
      .map(([group, versions]) => ({
        metadata: group === '' ? {} : { name: group },
        versions: versions.map((version) => describeVersion(group, version, all)),
      })),
  };
}

/** `APIVersions`, the response to a plain `GET /api`. `serverAddress` is `host:port` as clients reach it. */
export function coreVersions(serverAddress: string): DiscoveryDocument {
  return {
    kind: 'APIVersions',
    versions: [...(servedGroups().get('') ?? [])],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `APIGroupList`, the response to a plain `GET /apis`. */
export function groupList(all = servedResources): DiscoveryDocument {
  const names = [...servedGroups(all).keys()].filter((group) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: names.map((name) => describeGroup(name, all)) };
}

/** `APIGroup`, the response to `GET /apis/GROUP`; undefined if it is not served. */
export function groupDocument(group: string, all = servedResources): DiscoveryDocument | undefined {
  if (group === '' || !servedGroups(all).has(group)) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group, all) };
}

/** `APIResourceList`, the response to `GET /api/v1` and `GET /apis/GROUP/VERSION`; undefined if it is not served. */
export function resourceList(group: string, version: string, all = servedResources): DiscoveryDocument | undefined {
  const served = resourcesOf(group, version, all);
  if (served.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version }),
    resources: served.flatMap((resource) => [
      describeResource(resource),
      ...resource.subresources.map((subresource) => describeSubresource(resource, subresource)),
    ]),
  };
}

function describeGroup(group: string, all: readonly ServedResource[]): DiscoveryDocument {
  const versions = (servedGroups(all).get(group) ?? []).map((version) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function describeVersion(group: string, version: string, all: readonly ServedResource[]): DiscoveryDocument {
  return { version, freshness: 'Current', resources: resourcesOf(group, version, all).map(describeAggregated) };
}

function describeAggregated(served: ServedResource): DiscoveryDocument {
  const subresources = served.subresources.map(({ name, responseKind, verbs }) => ({
    subresource: name,
    responseKind: kindWithin(served, responseKind),
    verbs,
  }));
  return {
    resource: served.plural,
    responseKind: kindWithin(served, served),
    scope: served.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: served.singular,
    verbs: served.verbs,
    ...names(served),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

function describeResource(served: ServedResource): DiscoveryDocument {
  const { plural, singular, namespaced, kind, verbs } = served;
  return { name: plural, singularName: singular, namespaced, kind, verbs, ...names(served) };
}

/** Group and version are set only if they differ from those of the list, as in `pods/eviction`. */
function describeSubresource(served: ServedResource, subresource: ServedSubresource): DiscoveryDocument {
  const { group, version, kind } = subresource.responseKind;
  const foreign = group !== served.group || version !== served.version;
  return {
    name: `${served.plural}/${subresource.name}`,
    singularName: '',
    namespaced: served.namespaced,
    ...(foreign ? { group, version } : {}),
    kind,
    verbs: subresource.verbs,
  };
}

function names({ shortNames, categories }: ServedResource): DiscoveryDocument {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

/** Group and version are set only if they differ from those of the resource; clients fill in the rest. */
function kindWithin(served: ServedResource, { group, version, kind }: GroupVersionKind): GroupVersionKind {
  const own = group === served.group && version === served.version;
  return own ? { group: '', version: '', kind } : { group, version, kind };
}
