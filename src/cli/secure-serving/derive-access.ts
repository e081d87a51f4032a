// What a request shows and asks for, in the words of the API server.
import type { NonResourceAccess, UserInfo } from '../../api/reviews.ts';

/** Of a client certificate that was verified. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** The token in an `Authorization` header; undefined where there is none (apiserver `bearertoken`). */
export function deriveBearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (header ?? '').trim().split(' ', 3);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

/** The name is the user, the organisations are its groups (apiserver `x509.CommonNameUserConversion`). */
export function deriveCertificateUser({ commonName, organizations }: CertificateSubject): UserInfo | undefined {
  if (commonName === '') return undefined;
  const groups = [...new Set([...organizations, 'system:authenticated'])];
  return { username: commonName, uid: '', groups, extra: {} };
}

/**
 * Method and path as RBAC's `nonResourceURLs` have them: the path decoded. `pathname` is what the pages are found by, so
 * that what is allowed and what is shown are the same; dots are resolved in it.
 */
export function deriveAccess(method: string, pathname: string): NonResourceAccess {
  return { verb: method.toLowerCase(), path: decoded(pathname) };
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname; // not UTF-8: then the text itself is what may or may not be read
  }
}

/** Whether the path, as pages are found by it, is in the list; an entry that ends with `*` stands for all that begin so (apiserver `path.NewAuthorizer`). */
export function isAlwaysAllowed(path: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => (entry.endsWith('*') ? path.startsWith(entry.slice(0, -1)) : path === entry));
}
