/** Paths of the API, as upstream reads them (`request.RequestInfoFactory`). */
import {
  findServedResource,
  resourcesOf,
  type ServedResource,
  type ServedSubresource,
} from '../discovery/served-resources.ts';

export interface ResourceRoute {
  readonly served: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: ServedSubresource | undefined;
}

const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

/** The resource that a path names; undefined where nothing is served there. Parts are decoded. */
export function routeOf(path: string): ResourceRoute | undefined {
  const parts = decodeParts(path);
  if (parts === undefined) return undefined;
  if (parts[0] === 'api') return route('', parts[1] ?? '', parts.slice(2));
  return parts[0] === 'apis' ? route(parts[1] ?? '', parts[2] ?? '', parts.slice(3)) : undefined;
}

/** The path lies below a group version of which something is served. */
export function isServedVersion(path: string): boolean {
  const [, root, first = '', second = ''] = path.split('/');
  if (root === 'api') return resourcesOf('', first).length > 0;
  return root === 'apis' && resourcesOf(first, second).length > 0;
}

function decodeParts(path: string): readonly string[] | undefined {
  const parts = path.split('/').slice(1);
  if (parts.some((part) => part === '')) return undefined;
  try {
    return parts.map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function route(group: string, version: string, parts: readonly string[]): ResourceRoute | undefined {
  const [first, namespace, plural, ...rest] = parts;
  const below = first === 'namespaces' && namespace !== undefined && plural !== undefined;
  if (!below || (group === '' && namespaceSubresources.has(plural) && rest.length === 0)) {
    return locate({ group, version, parts, namespace: undefined });
  }
  return locate({ group, version, parts: [plural, ...rest], namespace });
}

interface Location {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly parts: readonly string[];
}

function locate({ group, version, namespace, parts }: Location): ResourceRoute | undefined {
  const [plural = '', name, subName, ...rest] = parts;
  const served = findServedResource(group, version, plural);
  if (served === undefined || rest.length > 0 || !isPlaced(served, namespace, name)) return undefined;
  const subresource = served.subresources.find((candidate) => candidate.name === subName);
  if (subName !== undefined && subresource === undefined) return undefined;
  return { served, namespace, name, subresource };
}

/** A namespaced object is found in its namespace only, a cluster-scoped one in none. */
function isPlaced(served: ServedResource, namespace: string | undefined, name: string | undefined): boolean {
  return served.namespaced ? namespace !== undefined || name === undefined : namespace === undefined;
}
