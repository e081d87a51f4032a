// The requests of a kubelet that are compared.
import type { AuditedRequest } from '../audit-trail.ts';
import { isRecord } from './json.ts';
import { recordsEvents } from './kubelets.ts';

/** Resources that kubelets read for pods, and those for CSI drivers. */
const leftOut = new Set([
  'configmaps',
  'secrets',
  'services',
  'csidrivers',
  'runtimeclasses',
  'podcertificaterequests',
]);

const collectionQuery = new Set([
  'fieldSelector',
  'labelSelector',
  'watch',
  'sendInitialEvents',
  'resourceVersionMatch',
]);

export function isCompared(request: AuditedRequest): boolean {
  const { resource } = request;
  if (resource === 'events' && !recordsEvents) return false;
  return resource !== '' && !leftOut.has(resource);
}

/**
 * A node status update with only heartbeat times and images, which the kubelet reads every 30 s. It is empty if it is sent
 * in the same second as the previous one.
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

/** The object of a request. Requests about one object are compared in order. */
export function objectOf(request: AuditedRequest): string {
  const { resource, namespace, name, verb } = request;
  if (resource === 'events') return `events about ${subjectOf(request)}`;
  const object = [resource, namespace, name].filter((part) => part !== '').join('/');
  // Read by a separate client.
  return verb === 'watch' || verb === 'list' ? `${object} as a stream` : object;
}

/** The object of an Event. A patch does not contain it, its response does. */
function subjectOf({ answer }: AuditedRequest): string {
  const about = isRecord(answer) ? (answer['involvedObject'] ?? answer['regarding']) : undefined;
  if (!isRecord(about)) return 'unknown';
  return ['kind', 'namespace', 'name'].flatMap((field) => (field in about ? [String(about[field])] : [])).join('/');
}

/** Verb, subresource or query, and status code. */
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

/** The request in one line: `PATCH status 200 pods/default/bound`. */
export function lineOf(request: AuditedRequest): string {
  return `${actionOf(request)} ${objectOf(request)}`;
}

/** A regular renewal of a lease. */
export function isRenewal({ resource, verb, code }: AuditedRequest): boolean {
  return resource === 'leases' && verb === 'update' && code === 200;
}

/** The query without the watch timeout, which is random, and bookmarks, which are always requested. */
function queryOf(uri: string): string {
  const asked = new URL(uri, 'http://server').searchParams;
  return [...asked]
    .filter(([key]) => collectionQuery.has(key))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join('&');
}
