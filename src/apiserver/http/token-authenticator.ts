/** Static bearer tokens (upstream `--token-auth-file`). */
import { randomBytes } from 'node:crypto';
import { statusError } from '../api-errors/api-errors.ts';
import type { User } from '../discovery/build-review.ts';
import { headerOf, type Incoming } from './exchange.ts';

export interface TokenUser {
  readonly token: string;
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

/** Group of every authenticated user. */
const authenticatedGroup = 'system:authenticated';
const bearer = /^Bearer +(\S+) *$/i;
const tokenBytes = 24;

/** An administrator with a token from the system's random source, independent of the seeded one. */
export function makeAdmin(): TokenUser {
  const token = randomBytes(tokenBytes).toString('base64url');
  return { token, user: 'kubernetes-admin', groups: ['system:masters'] };
}

export class TokenAuthenticator {
  readonly #users: ReadonlyMap<string, User>;

  constructor(tokens: readonly TokenUser[]) {
    const userOf = ({ user: name, uid, groups }: TokenUser): User => ({
      name,
      uid,
      groups: [...groups, authenticatedGroup],
    });
    this.#users = new Map(tokens.map((entry) => [entry.token, userOf(entry)]));
  }

  /** Throws a 401 ApiError for a missing or unknown token. */
  authenticate(incoming: Incoming): User {
    const token = bearer.exec(headerOf(incoming, 'authorization'))?.[1];
    const user = token === undefined ? undefined : this.#users.get(token);
    if (user === undefined) throw statusError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }
}
