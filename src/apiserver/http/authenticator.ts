/** Finds the user of a request: a static token, a token of a service account, or none (anonymous). */
import { statusError } from '../api-errors/api-errors.ts';
import { tokenIssuer } from '../authentication/account-claims.ts';
import type { AccountTokens, Identified } from '../authentication/account-tokens.ts';
import { anonymous, authenticatedGroup, type User } from '../authentication/user.ts';
import { headerOf, type Incoming } from './exchange.ts';
import type { StaticTokens } from './static-tokens.ts';

interface AuthenticatorOptions {
  readonly tokens: StaticTokens;
  readonly accounts: AccountTokens;
  /** Whether requests without a token are those of system:anonymous; otherwise they are refused. */
  readonly allowsAnonymous: boolean;
}

/** Audiences of this server. */
export const serverAudiences: readonly string[] = [tokenIssuer];

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
    const found = token === undefined ? undefined : this.identify(token, serverAudiences);
    if (found === undefined || 'error' in found) throw statusError(401, 'Unauthorized', 'Unauthorized');
    return found.user;
  }

  /** The user of a token; undefined if it is unknown. A static token is valid for the audiences of this server. */
  identify(token: string, wanted: readonly string[]): Identified | undefined {
    const user = this.#options.tokens.userOf(token);
    if (user === undefined) return withAuthenticated(this.#options.accounts.identify(token, wanted));
    const audiences = wanted.filter((audience) => serverAudiences.includes(audience));
    return audiences.length === 0 ? undefined : withAuthenticated({ user, audiences });
  }
}

function withAuthenticated(found: Identified | undefined): Identified | undefined {
  if (found === undefined || 'error' in found) return found;
  const { user, audiences } = found;
  const isMember = user.groups.includes(authenticatedGroup);
  return { user: isMember ? user : { ...user, groups: [...user.groups, authenticatedGroup] }, audiences };
}
