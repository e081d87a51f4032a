/**
 * Acting as another user by request headers (upstream `filters/impersonation`), for those who have the verb `impersonate`
 * for each part of the identity.
 */
import { badRequest } from '../api-errors/api-errors.ts';
import type { Authorizer } from './authorizer.ts';
import { assertAllowed } from './forbidden-request.ts';
import { decodePart, type ResourceAttributes } from './parse-attributes.ts';
import {
  accountGroups,
  anonymous,
  authenticatedGroup,
  parseAccountUserName,
  unauthenticatedGroup,
  type User,
} from '../authentication/user.ts';

const reviewGroup = 'authentication.k8s.io';
const headerPrefix = 'impersonate-';
const extraPrefix = `${headerPrefix}extra-`;

export class Impersonator {
  readonly #authorizer: Authorizer;

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** The user that the request is for. Throws 400 or 403 ApiErrors. */
  userFor(requester: User, rawHeaders: readonly string[]): User {
    const wanted = readWantedUser(rawHeaders);
    if (wanted === undefined) return requester;
    for (const needed of neededPermissions(wanted)) assertAllowed(this.#authorizer, requester, needed);
    return withImpliedGroups(wanted);
  }
}

function neededPermissions(wanted: User): readonly ResourceAttributes[] {
  const account = parseAccountUserName(wanted.name);
  const ofName =
    account === undefined ? { resource: 'users', name: wanted.name } : { resource: 'serviceaccounts', ...account };
  const ofGroups = wanted.groups.map((name) => permission({ group: '', resource: 'groups', name }));
  const ofUid = (wanted.uid ?? '') === '' ? [] : [{ group: reviewGroup, resource: 'uids', name: wanted.uid ?? '' }];
  const ofExtra = Object.entries(wanted.extra ?? {}).flatMap(([subresource, values]) =>
    values.map((name) => ({ group: reviewGroup, resource: 'userextras', subresource, name })),
  );
  return [permission({ group: '', ...ofName }), ...ofGroups, ...[...ofUid, ...ofExtra].map(permission)];
}

function permission(
  what: Pick<ResourceAttributes, 'group' | 'resource' | 'name'> & Partial<ResourceAttributes>,
): ResourceAttributes {
  return { kind: 'resource', verb: 'impersonate', namespace: '', subresource: '', ...what };
}

function withImpliedGroups(wanted: User): User {
  const account = parseAccountUserName(wanted.name);
  const fixed = account === undefined ? [] : accountGroups(account.namespace);
  const groups = wanted.groups.length > 0 ? wanted.groups : fixed;
  const implied = wanted.name === anonymous.name ? unauthenticatedGroup : authenticatedGroup;
  const isSettled = groups.includes(implied) || groups.includes(unauthenticatedGroup);
  return { ...wanted, groups: isSettled ? groups : [...groups, implied] };
}

function onlyName({ uid = '', groups, extra = {} }: User): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

/** Undefined without impersonation headers. `rawHeaders` has names and values in turn. */
function readWantedUser(rawHeaders: readonly string[]): User | undefined {
  const headers = impersonationHeaders(rawHeaders);
  const valuesOf = (name: string): readonly string[] => headers.get(name) ?? [];
  const [name = ''] = valuesOf('impersonate-user');
  const [uid = ''] = valuesOf('impersonate-uid');
  const wanted = { name, uid, groups: valuesOf('impersonate-group'), extra: readExtra(headers) };
  if (name !== '') return wanted;
  if (onlyName(wanted)) return undefined;
  throw badRequest('the request has impersonation headers without Impersonate-User');
}

/** The values of each impersonation header, by its name in lower case. */
function impersonationHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (!name.startsWith(headerPrefix)) continue;
    headers.set(name, [...(headers.get(name) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return headers;
}

function readExtra(values: ReadonlyMap<string, readonly string[]>): Readonly<Record<string, readonly string[]>> {
  const ofExtra = [...values].filter(([name]) => name.startsWith(extraPrefix));
  return Object.fromEntries(ofExtra.map(([name, value]) => [decodePart(name.slice(extraPrefix.length)), value]));
}
