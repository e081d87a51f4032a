/** Finds the user of a request: that of a static token, or none (anonymous). */
import { statusError } from '../api-errors/api-errors.ts';
import { anonymous, authenticatedGroup, type User } from '../authentication/user.ts';
import { headerOf, type Incoming } from './exchange.ts';
import type { TokenUser } from './static-tokens.ts';

/** Audiences of this server, for which a static token is valid. */
export const serverAudiences: readonly string[] = ['https://kubernetes.default.svc'];

const bearer = /^Bearer +(\S+) *$/i;

export class Authenticator {
  readonly #users: ReadonlyMap<string, User>;
  readonly #allowsAnonymous: boolean;

  /** `allowsAnonymous`: requests without a token are those of system:anonymous; otherwise they are refused. */
  constructor(tokens: readonly TokenUser[], allowsAnonymous: boolean) {
    this.#users = new Map(tokens.map(({ token, user: name, uid, groups }) => [token, { name, uid, groups }]));
    this.#allowsAnonymous = allowsAnonymous;
  }

  /** Throws a 401 ApiError for an invalid token, and without a bearer token unless anonymous requests are allowed. */
  authenticate(incoming: Incoming): User {
    const token = bearer.exec(headerOf(incoming, 'authorization'))?.[1];
    if (token === undefined && this.#allowsAnonymous) return anonymous;
    const user = token === undefined ? undefined : this.userOf(token);
    if (user === undefined) throw statusError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }

  /** The user of a token, as a member of the group of authenticated users; undefined if it is unknown. */
  userOf(token: string): User | undefined {
    const user = this.#users.get(token);
    if (user === undefined || user.groups.includes(authenticatedGroup)) return user;
    return { ...user, groups: [...user.groups, authenticatedGroup] };
  }
}
