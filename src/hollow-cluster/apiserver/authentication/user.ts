/** The user of a request, as authentication or impersonation found it. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Group of every authenticated user. */
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** May do everything, whatever the roles say. */
export const mastersGroup = 'system:masters';

export const anonymous: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };

const accountPrefix = 'system:serviceaccount:';

export function accountUserName(namespace: string, name: string): string {
  return `${accountPrefix}${namespace}:${name}`;
}

/** Groups of a service account, without that of all authenticated users. */
export function accountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** The service account of a user name; undefined if it is another user's. */
export function parseAccountUserName(
  userName: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name = '', ...rest] = userName.slice(accountPrefix.length).split(':');
  return namespace === '' || name === '' || rest.length > 0 ? undefined : { namespace, name };
}
