// What a service account asked of kube-apiserver, compared with what it was granted.
import type { AuditedRequest } from '../control-plane/audit-trail.ts';
import { type Permission, permissionText } from './permissions.ts';

/** Granted and never asked for. */
export function unusedOf(granted: readonly Permission[], requests: readonly AuditedRequest[]): readonly string[] {
  return granted.filter((permission) => !requests.some((request) => uses(request, permission))).map(permissionText);
}

/** Asked for and refused, each once. */
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
