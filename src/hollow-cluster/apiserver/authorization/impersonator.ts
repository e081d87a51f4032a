/**
 * Acting as another user by request headers (upstream `filters/impersonation`). Each way of doing so has its own verbs:
 * the constrained ones (`impersonate:MODE` together with `impersonate-on:MODE:VERB` for the request itself) are tried
 * before the verb `impersonate`.
 */
import { isDnsSubdomain } from '../../../machinery/api/names.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import type { Authorizer } from './authorizer.ts';
import { forbiddenRequest } from './forbidden-request.ts';
import type { Attributes, ResourceAttributes } from './parse-attributes.ts';
import {
  accountGroups,
  anonymous,
  authenticatedGroup,
  mastersGroup,
  parseAccountUserName,
  unauthenticatedGroup,
  type User,
} from '../authentication/user.ts';

interface Mode {
  readonly verb: string;
  /** Absent: the request itself needs no further permission. */
  readonly onVerb?: string;
  /** API group of users and groups. */
  readonly group: string;
  applies(wanted: User, requester: User): boolean;
}

const nodePrefix = 'system:node:';
const nodeNameExtra = 'authentication.kubernetes.io/node-name';
const reviewGroup = 'authentication.k8s.io';
const headerPrefix = 'impersonate-';
const extraPrefix = `${headerPrefix}extra-`;

const modes: readonly Mode[] = [
  constrained('associated-node', (wanted, requester) => onlyName(wanted) && isOwnNode(wanted, requester)),
  constrained('arbitrary-node', (wanted) => onlyName(wanted) && nodeOf(wanted.name) !== undefined),
  constrained('serviceaccount', (wanted) => onlyName(wanted) && parseAccountUserName(wanted.name) !== undefined),
  constrained('user-info', ({ name }) => nodeOf(name) === undefined && parseAccountUserName(name) === undefined),
  { verb: 'impersonate', group: '', applies: () => true },
];

function constrained(name: string, applies: Mode['applies']): Mode {
  return { verb: `impersonate:${name}`, onVerb: `impersonate-on:${name}`, group: reviewGroup, applies };
}

export class Impersonator {
  readonly #authorizer: Authorizer;

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** The user that the request is for. Throws 400 or 403 ApiErrors. */
  userFor(requester: User, rawHeaders: readonly string[], attributes: Attributes): User {
    const wanted = readWantedUser(rawHeaders);
    if (wanted === undefined) return requester;
    let firstError: unknown;
    for (const mode of modes.filter((candidate) => candidate.applies(wanted, requester))) {
      try {
        return this.#impersonate(mode, wanted, { requester, attributes });
      } catch (error) {
        firstError ??= error;
      }
    }
    throw firstError;
  }

  #impersonate(
    mode: Mode,
    wanted: User,
    { requester, attributes }: { readonly requester: User; readonly attributes: Attributes },
  ): User {
    if (mode.onVerb !== undefined) {
      this.#require(requester, { ...attributes, verb: `${mode.onVerb}:${attributes.verb}` });
    }
    for (const needed of neededPermissions(mode, wanted)) this.#require(requester, needed);
    if (mode.onVerb !== undefined && wanted.groups.includes(mastersGroup)) {
      const masters = permission(mode, { group: mode.group, resource: 'groups', name: mastersGroup });
      throw forbiddenRequest(requester, masters, 'impersonating the system:masters group is not allowed');
    }
    return withImpliedGroups(mode, wanted);
  }

  #require(user: User, attributes: Attributes): void {
    const { allowed, reason } = this.#authorizer.decide(user, attributes);
    if (!allowed) throw forbiddenRequest(user, attributes, reason);
  }
}

function neededPermissions(mode: Mode, wanted: User): readonly ResourceAttributes[] {
  const { group } = mode;
  const ofGroups = wanted.groups.map((name) => permission(mode, { group, resource: 'groups', name }));
  const ofUid = (wanted.uid ?? '') === '' ? [] : [{ group: reviewGroup, resource: 'uids', name: wanted.uid ?? '' }];
  const ofExtra = Object.entries(wanted.extra ?? {}).flatMap(([subresource, values]) =>
    values.map((name) => ({ group: reviewGroup, resource: 'userextras', subresource, name })),
  );
  const others = [...ofUid, ...ofExtra].map((wantedValue) => permission(mode, wantedValue));
  return [nameNeeded(mode, wanted.name), ...ofGroups, ...others];
}

function nameNeeded(mode: Mode, userName: string): ResourceAttributes {
  const { group } = mode;
  const account = parseAccountUserName(userName);
  if (account !== undefined) return permission(mode, { group, resource: 'serviceaccounts', ...account });
  const node = mode.onVerb === undefined ? undefined : nodeOf(userName);
  if (node === undefined) return permission(mode, { group, resource: 'users', name: userName });
  // For the node of a pod the permission is the same on every node.
  const name = mode.verb === 'impersonate:associated-node' ? '*' : node;
  return permission(mode, { group, resource: 'nodes', name });
}

function permission(
  { verb }: Mode,
  what: Pick<ResourceAttributes, 'group' | 'resource' | 'name'> & Partial<ResourceAttributes>,
): ResourceAttributes {
  return { kind: 'resource', verb, namespace: '', subresource: '', ...what };
}

function withImpliedGroups(mode: Mode, wanted: User): User {
  const groups = wanted.groups.length > 0 ? wanted.groups : fixedGroups(mode, wanted.name);
  const implied = wanted.name === anonymous.name ? unauthenticatedGroup : authenticatedGroup;
  const isSettled = groups.includes(implied) || groups.includes(unauthenticatedGroup);
  return { ...wanted, groups: isSettled ? groups : [...groups, implied] };
}

function fixedGroups(mode: Mode, userName: string): readonly string[] {
  const account = parseAccountUserName(userName);
  if (account !== undefined) return accountGroups(account.namespace);
  return mode.onVerb !== undefined && nodeOf(userName) !== undefined ? ['system:nodes'] : [];
}

function onlyName({ uid = '', groups, extra = {} }: User): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

function nodeOf(userName: string): string | undefined {
  const name = userName.startsWith(nodePrefix) ? userName.slice(nodePrefix.length) : '';
  return isDnsSubdomain(name) ? name : undefined;
}

function isOwnNode(wanted: User, requester: User): boolean {
  const node = nodeOf(wanted.name);
  const own = requester.extra?.[nodeNameExtra] ?? [];
  return (
    node !== undefined && parseAccountUserName(requester.name) !== undefined && own.length === 1 && own[0] === node
  );
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
  return Object.fromEntries(ofExtra.map(([name, value]) => [unescapeKey(name.slice(extraPrefix.length)), value]));
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}
