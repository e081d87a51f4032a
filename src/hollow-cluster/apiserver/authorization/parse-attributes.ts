import { ownValue } from '../../../machinery/api/json-map.ts';

/**
 * What a request asks for, as authorization sees it: derived from its URL alone, whether or not the path is served
 * (upstream `request.RequestInfoFactory`).
 */
import { withoutTrailing } from '../../../machinery/api/without-trailing.ts';

export interface ResourceAttributes {
  readonly kind: 'resource';
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for cluster-scoped resources and for requests across namespaces. */
  readonly namespace: string;
  /** Empty for requests on a collection, creations included. */
  readonly name: string;
}

interface PathAttributes {
  readonly kind: 'path';
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type Attributes = ResourceAttributes | PathAttributes;

interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

const verbsByMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
/** Subresources of a namespace, which follow its name without being resources in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);
/** First parts of paths like `/api/v1/watch/pods`, which this server does not serve. */
const verbsInPath: ReadonlySet<string> = new Set(['proxy', 'watch']);
const exactName = /^metadata\.name==?([^,]+)$/;

export function parseAttributes(request: RequestLine): Attributes {
  // Decoded before any comparison, as the router does: otherwise another notation of a path would be authorized as another path.
  const parts = withoutTrailing(request.path.replace(/^\/+/, ''), '/').split('/').map(decodePart);
  const [root, ...rest] = parts;
  if (root === 'api' && rest.length >= 2) return resourceAttributes('', rest.slice(1), request);
  if (root === 'apis' && rest.length >= 3) return resourceAttributes(rest[0] ?? '', rest.slice(2), request);
  return { kind: 'path', verb: request.method.toLowerCase(), path: request.path };
}

function resourceAttributes(group: string, parts: readonly string[], request: RequestLine): ResourceAttributes {
  const isVerb = verbsInPath.has(parts[0] ?? '') && parts.length > 1;
  const located = locate(isVerb ? parts.slice(1) : parts);
  const methodVerb = ownValue(verbsByMethod, request.method) ?? '';
  const verb = isVerb ? (parts[0] ?? '') : collectionVerb(methodVerb, located.name, request.query);
  const name =
    located.name === '' && (verb === 'list' || verb === 'watch') ? selectedName(request.query) : located.name;
  return { kind: 'resource', verb, group, ...located, name };
}

function locate(parts: readonly string[]): Pick<ResourceAttributes, 'resource' | 'subresource' | 'namespace' | 'name'> {
  const [first = '', second = '', third] = parts;
  // A namespace is in itself, as in kube-apiserver.
  const namespace = first === 'namespaces' ? second : '';
  const isWithin = first === 'namespaces' && third !== undefined && !namespaceSubresources.has(third);
  const [resource = '', name = '', subresource = ''] = isWithin ? parts.slice(2) : parts;
  return { namespace, resource, name, subresource };
}

/** The decoded part of a URL; as it is if it cannot be decoded. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

function collectionVerb(verb: string, name: string, query: URLSearchParams): string {
  if (name !== '') return verb;
  if (verb === 'delete') return 'deletecollection';
  if (verb !== 'get') return verb;
  const watch = query.get('watch');
  return watch === null || ['false', '0'].includes(watch.toLowerCase()) ? 'list' : 'watch';
}

/** A list or watch of one object by name is authorized as that object. */
function selectedName(query: URLSearchParams): string {
  const terms = (query.get('fieldSelector') ?? '').split(',');
  return terms.map((term) => exactName.exec(term)?.[1]).find((name) => name !== undefined) ?? '';
}
