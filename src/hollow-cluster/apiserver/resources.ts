/**
 * The resources that the embedded API server serves, as discovery of kube-apiserver lists them (`served-resources.json`). Routing,
 * discovery, printing, OpenAPI and the decoding of request bodies all read them.
 */

import type { FieldError } from './api-errors/field-errors.ts';

import discovery from './served-resources.json' with { type: 'json' };

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** Group, version and kind; the core group is the empty string. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A path below an object, as in `pods/NAME/binding`. */
export interface ServedSubresource {
  readonly name: string;
  /** Kind of the request or response body; its group may differ from that of the resource (`pods/eviction`). */
  readonly responseKind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** A collection under a group version. */
export interface ServedResource extends GroupVersionKind {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly ServedSubresource[];
  /** A review has no objects: the response to a POST is computed from its body, and nothing is stored. */
  readonly review: boolean;
  /** Definition of a custom resource; other resources have none. */
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
  /** `string`, `integer`, `number`, `boolean` or `date`. */
  readonly type: string;
  readonly description: string;
  /** Fields, and `[?(@.FIELD=="VALUE")]` for one item of a list. */
  readonly jsonPath: string;
  readonly priority?: number;
}

/** The group whose events are those of the core group in another form. */
export const eventsV1Group = 'events.k8s.io';

/** A resource in a document of discovery. */
interface DiscoveredResource {
  readonly resource: string;
  readonly singularResource: string;
  /** Group and version are those of the document where they are empty. */
  readonly responseKind: GroupVersionKind;
  readonly scope: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly subresources?: readonly DiscoveredSubresource[] | undefined;
}

type DiscoveredSubresource = Pick<DiscoveredResource, 'responseKind' | 'verbs'> & { readonly subresource: string };

/**
 * All resources, group version by group version. Groups are in the order of kube-apiserver, which decides between those that
 * have a resource of the same name.
 */
export const servedResources: readonly ServedResource[] = Object.entries<readonly DiscoveredResource[]>(
  discovery,
).flatMap(([apiVersion, rows]) => {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return rows.map((row) => resourceOf({ group, version }, row));
});

function resourceOf(
  { group, version }: Omit<GroupVersionKind, 'kind'>,
  { shortNames = [], categories = [], subresources = [], verbs, ...row }: DiscoveredResource,
): ServedResource {
  const kindOf = ({ kind, ...own }: GroupVersionKind): GroupVersionKind =>
    own.version === '' ? { group, version, kind } : { ...own, kind };
  return {
    ...kindOf(row.responseKind),
    plural: row.resource,
    singular: row.singularResource,
    namespaced: row.scope === 'Namespaced',
    shortNames,
    categories,
    verbs,
    subresources: subresources.map(({ subresource, responseKind, verbs }) => {
      return { name: subresource, responseKind: kindOf(responseKind), verbs };
    }),
    review: verbs.every((verb) => verb === 'create'),
  };
}

/** The names of a custom resource, as in its definition. */
type CustomNames = Pick<ServedResource, 'group' | 'version' | 'kind' | 'plural' | 'singular' | 'shortNames'>;

/** A cluster-scoped custom resource with the subresource status. */
export function customResource(names: CustomNames, custom: CustomDefinition): ServedResource {
  const { group, version, kind } = names;
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  const status = { name: 'status', responseKind: { group, version, kind }, verbs: ['get', 'patch', 'update'] };
  return { ...names, namespaced: false, categories: [], verbs, subresources: [status], review: false, custom };
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
  const groups = [...Map.groupBy(all, ({ group }) => group)];
  return new Map(groups.map(([group, served]) => [group, [...new Set(served.map(({ version }) => version))]] as const));
}
