/** Static bearer tokens (upstream `--token-auth-file`). */
import { randomBytes } from 'node:crypto';

export interface TokenUser {
  readonly token: string;
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}

const tokenBytes = 24;

/** An administrator with a token from the system's random source, independent of the seeded one. */
export function makeAdmin(): TokenUser {
  const token = randomBytes(tokenBytes).toString('base64url');
  return { token, user: 'kubernetes-admin', groups: ['system:masters'] };
}
