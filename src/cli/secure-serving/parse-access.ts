// User and request attributes for authentication and authorization, as the API server derives them.
import type { NonResourceAccess, UserInfo } from '../../machinery/api/reviews.ts';

/** The subject of a verified client certificate. */
interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** The token in an `Authorization` header; undefined if it has none (apiserver `bearertoken`). */
export function parseBearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (header ?? '').trim().split(' ', 3);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

/** The common name is the user, the organizations are its groups (apiserver `x509.CommonNameUserConversion`). */
export function buildCertificateUser({ commonName, organizations }: CertificateSubject): UserInfo | undefined {
  if (commonName === '') return undefined;
  const groups = [...new Set([...organizations, 'system:authenticated'])];
  return { username: commonName, uid: '', groups, extra: {} };
}

/**
 * Verb and decoded path for RBAC's `nonResourceURLs`. `pathname` is the one that routes are matched with (dot segments
 * resolved), so that the authorized path and the served path are the same.
 */
export function parseAccess(method: string, pathname: string): NonResourceAccess {
  return { verb: method.toLowerCase(), path: decoded(pathname) };
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname; // not UTF-8: authorized by its raw text
  }
}

/** Whether the path that routes are matched with is in the list; an entry that ends with `*` matches a prefix (apiserver `path.NewAuthorizer`). */
export function isAlwaysAllowed(path: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => (entry.endsWith('*') ? path.startsWith(entry.slice(0, -1)) : path === entry));
}
