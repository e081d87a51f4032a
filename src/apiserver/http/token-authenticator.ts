/** Bearer tokens, known from the start (upstream `--token-auth-file`). */
import { randomBytes } from 'node:crypto';
import { refusal } from '../registry/refusals.ts';
import { headerOf, type Incoming, type User } from './exchange.ts';

export interface TokenUser {
  readonly token: string;
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

/** Every user who was recognized is in this one as well. */
const everybody = 'system:authenticated';
const bearer = /^Bearer +(\S+) *$/i;
const tokenBytes = 24;

/** An administrator with a token that nobody can guess: real chance, whatever seed drives the rest. */
export function makeAdmin(): TokenUser {
  const token = randomBytes(tokenBytes).toString('base64url');
  return { token, user: 'kubernetes-admin', groups: ['system:masters'] };
}

export class TokenAuthenticator {
  readonly #users: ReadonlyMap<string, User>;

  constructor(tokens: readonly TokenUser[]) {
    this.#users = new Map(
      tokens.map(
        ({ token, user, uid, groups }) => [token, { name: user, uid, groups: [...groups, everybody] }] as const,
      ),
    );
  }

  /** Throws a 401 ApiError for a token that is missing or unknown. */
  authenticate(incoming: Incoming): User {
    const token = bearer.exec(headerOf(incoming, 'authorization'))?.[1];
    const user = token === undefined ? undefined : this.#users.get(token);
    if (user === undefined) throw refusal(401, 'Unauthorized', 'Unauthorized');
    return user;
  }
}
