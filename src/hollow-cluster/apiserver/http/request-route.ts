/** Parses API paths as upstream does (`request.RequestInfoFactory`). */
import { findServedResource, resourcesOf, type ServedResource, type ServedSubresource } from '../resources.ts';

export interface ResourceRoute {
  readonly served: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: ServedSubresource | undefined;
}

const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

/** The resource of a path; undefined if it is not served. Parts are URL-decoded. */
export function routeOf(path: string, all: readonly ServedResource[]): ResourceRoute | undefined {
  const parts = decodeParts(path);
  if (parts === undefined) return undefined;
  if (parts[0] === 'api') return route('', parts[1] ?? '', parts.slice(2), all);
  return parts[0] === 'apis' ? route(parts[1] ?? '', parts[2] ?? '', parts.slice(3), all) : undefined;
}

/** Whether the path is below a served group version. */
export function isServedVersion(path: string, all: readonly ServedResource[]): boolean {
  const [, root, first = '', second = ''] = path.split('/');
  if (root === 'api') return resourcesOf('', first, all).length > 0;
  return root === 'apis' && resourcesOf(first, second, all).length > 0;
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

function route(
  group: string,
  version: string,
  parts: readonly string[],
  all: readonly ServedResource[],
): ResourceRoute | undefined {
  const [first, within, below, ...rest] = parts;
  const ofNamespace = group === '' && namespaceSubresources.has(below ?? '') && rest.length === 0;
  const inNamespace = first === 'namespaces' && below !== undefined && !ofNamespace;
  const namespace = inNamespace ? within : undefined;
  const located = inNamespace ? parts.slice(2) : parts;
  const served = findServedResource(group, version, located[0] ?? '', all);
  return served === undefined ? undefined : locate(served, namespace, located.slice(1));
}

function locate(
  served: ServedResource,
  namespace: string | undefined,
  [name, subName, ...rest]: readonly string[],
): ResourceRoute | undefined {
  // A namespaced object requires a namespace, a cluster-scoped one must not have one.
  const placed = served.namespaced ? namespace !== undefined || name === undefined : namespace === undefined;
  const subresource = served.subresources.find((candidate) => candidate.name === subName);
  const found = subName === undefined || subresource !== undefined;
  return placed && found && rest.length === 0 ? { served, namespace, name, subresource } : undefined;
}
