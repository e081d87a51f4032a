// Compares the requests of a service account with its granted permissions.
import type { AuditedRequest } from '../control-plane/audit-trail.ts';
import { type Permission, permissionText } from '../../tools/manifests/permissions.ts';

/** Granted permissions that were never used. */
export function unusedOf(granted: readonly Permission[], requests: readonly AuditedRequest[]): readonly string[] {
  return granted.filter((permission) => !requests.some((request) => uses(request, permission))).map(permissionText);
}

/** Rejected requests, each once. */
export function refusedOf(requests: readonly AuditedRequest[]): readonly string[] {
  return [...new Set(requests.filter(({ code }) => code === 403).map(requestText))];
}

function uses(request: AuditedRequest, { group, resource, verb, namespace, name }: Permission): boolean {
  const asked = request.subresource === '' ? request.resource : `${request.resource}/${request.subresource}`;
  return (
    request.verb === verb &&
    asked === resource &&
    groupOf(request.uri) === group &&
    (namespace === '' || request.namespace === namespace) &&
    (name === '' || request.name === name)
  );
}

function groupOf(uri: string): string {
  return /^\/apis\/([^/]+)\//.exec(uri)?.[1] ?? '';
}

function requestText({ verb, uri }: AuditedRequest): string {
  return `${verb} ${uri}`;
}
