// Requests of a kubelet, as far as they are compared.
import type { AuditedRequest } from '../audit-trail.ts';
import { isRecord } from './json.ts';
import { tellsEvents } from './kubelets.ts';

/** What pods ask their kubelet for, and what only drivers need. */
const leftOut = new Set(['configmaps', 'secrets', 'services', 'csidrivers', 'runtimeclasses']);

const collectionQuery = new Set([
  'fieldSelector',
  'labelSelector',
  'watch',
  'sendInitialEvents',
  'resourceVersionMatch',
]);

export function isCompared(request: AuditedRequest): boolean {
  const { resource } = request;
  if (resource === 'events' && !tellsEvents) return false;
  return resource !== '' && !leftOut.has(resource);
}

/**
 * A report of the node that says no more than that its kubelet is alive, and which images it has, which it looks for every
 * 30 s. It says nothing at all in the second of the report before.
 */
export function isWithoutNews({ resource, verb, body }: AuditedRequest): boolean {
  if (resource !== 'nodes' || verb !== 'patch' || !isRecord(body)) return false;
  const { status = {}, ...others } = body;
  if (!isRecord(status) || Object.keys(others).length > 0) return false;
  const { images: _images, conditions = [], ['$setElementOrder/conditions']: _order, ...rest } = status;
  if (!Array.isArray(conditions) || Object.keys(rest).length > 0) return false;
  return conditions.every((condition) => Object.keys(condition).every((field) => heartbeat.has(field)));
}

const heartbeat = new Set(['type', 'lastHeartbeatTime']);

/** Whom it is about: requests about one object are in order, those about different ones only where it matters. */
export function objectOf(request: AuditedRequest): string {
  const { resource, namespace, name, verb } = request;
  if (resource === 'events') return `events about ${subjectOf(request)}`;
  const object = [resource, namespace, name].filter((part) => part !== '').join('/');
  // A client of its own reads them.
  return verb === 'watch' || verb === 'list' ? `${object} as a stream` : object;
}

/** A patch of an event says nothing of whom it is about, its answer does. */
function subjectOf({ answer }: AuditedRequest): string {
  const about = isRecord(answer) ? (answer['involvedObject'] ?? answer['regarding']) : undefined;
  if (!isRecord(about)) return 'nobody';
  return ['kind', 'namespace', 'name'].flatMap((field) => (field in about ? [String(about[field])] : [])).join('/');
}

/** Verb, what of the object, and the result. */
export function actionOf(request: AuditedRequest): string {
  const { verb, subresource, code, name, uri } = request;
  const query = name === '' && verb !== 'create' ? queryOf(uri) : '';
  const what = [verb.toUpperCase(), subresource, query, String(code)].filter((part) => part !== '').join(' ');
  return request.resource === 'events' ? `${what} ${reasonOf(request)}` : what;
}

function reasonOf({ answer, body }: AuditedRequest): string {
  const event = isRecord(answer) && 'reason' in answer ? answer : body;
  return isRecord(event) ? `${String(event['type'])} ${String(event['reason'])}` : '';
}

/** All of it in a line: `PATCH status 200 pods/default/bound`. */
export function lineOf(request: AuditedRequest): string {
  return `${actionOf(request)} ${objectOf(request)}`;
}

/** The regular renewal of a lease, which comes at its own times. */
export function isRenewal({ resource, verb, code }: AuditedRequest): boolean {
  return resource === 'leases' && verb === 'update' && code === 200;
}

/** How long a watch may take is drawn by chance, and bookmarks are always asked for. */
function queryOf(uri: string): string {
  const asked = new URL(uri, 'http://server').searchParams;
  return [...asked]
    .filter(([key]) => collectionQuery.has(key))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join('&');
}
