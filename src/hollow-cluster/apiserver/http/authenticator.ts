/** Finds the user of a request: that of a static token, or none (anonymous). */
import { statusError } from '../api-errors/api-errors.ts';
import { anonymous, authenticatedGroup, type User } from '../authentication/user.ts';
import { headerOf, type Incoming } from './exchange.ts';
import type { StaticTokens } from './static-tokens.ts';

interface AuthenticatorOptions {
  readonly tokens: StaticTokens;
  /** Whether requests without a token are those of system:anonymous; otherwise they are refused. */
  readonly allowsAnonymous: boolean;
}

/** Audiences of this server, for which a static token is valid. */
export const serverAudiences: readonly string[] = ['https://kubernetes.default.svc'];

const bearer = /^Bearer +(\S+) *$/i;

export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Throws a 401 ApiError for an invalid token, and without a bearer token unless anonymous requests are allowed. */
  authenticate(incoming: Incoming): User {
    const token = bearer.exec(headerOf(incoming, 'authorization'))?.[1];
    if (token === undefined && this.#options.allowsAnonymous) return anonymous;
    const user = token === undefined ? undefined : this.userOf(token);
    if (user === undefined) throw statusError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }

  /** The user of a token, as a member of the group of authenticated users; undefined if it is unknown. */
  userOf(token: string): User | undefined {
    const user = this.#options.tokens.userOf(token);
    if (user === undefined || user.groups.includes(authenticatedGroup)) return user;
    return { ...user, groups: [...user.groups, authenticatedGroup] };
  }
}
