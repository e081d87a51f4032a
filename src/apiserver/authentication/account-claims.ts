/** What a token of a service account states about itself (upstream `pkg/serviceaccount/claims.go`). */
import { mapAt, numberAt, textAt, valueAt } from '../select-field.ts';
import { accountGroups, accountUserName, type User } from './user.ts';

interface Reference {
  readonly name: string;
  readonly uid: string;
}

export interface AccountClaims {
  readonly id: string;
  readonly namespace: string;
  readonly account: Reference;
  readonly pod?: Reference | undefined;
  readonly node?: Reference | undefined;
  readonly secret?: Reference | undefined;
  readonly audiences: readonly string[];
  /** Seconds since the epoch, as the two below. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Also the default audience of tokens. */
export const tokenIssuer = 'https://kubernetes.default.svc';

/** The claims as a JSON Web Token carries them. */
export function writeClaims(claims: AccountClaims): Readonly<Record<string, unknown>> {
  const { id, namespace, account, pod, node, secret, audiences, issuedAt, expiresAt } = claims;
  return {
    aud: audiences,
    exp: expiresAt,
    iat: issuedAt,
    iss: tokenIssuer,
    jti: id,
    'kubernetes.io': { namespace, node, pod, secret, serviceaccount: account },
    nbf: issuedAt,
    sub: accountUserName(namespace, account.name),
  };
}

/** Undefined if these are claims of another issuer. */
export function readClaims(claims: unknown): AccountClaims | undefined {
  if (textAt(claims, 'iss') !== tokenIssuer) return undefined;
  const own = mapAt(claims, 'kubernetes.io');
  const audiences = valueAt(claims, 'aud');
  return {
    id: textAt(claims, 'jti'),
    namespace: textAt(own, 'namespace'),
    account: referenceAt(own, 'serviceaccount') ?? { name: '', uid: '' },
    pod: referenceAt(own, 'pod'),
    node: referenceAt(own, 'node'),
    secret: referenceAt(own, 'secret'),
    audiences: Array.isArray(audiences) ? audiences.filter((item) => typeof item === 'string') : [],
    issuedAt: numberAt(claims, 'iat'),
    expiresAt: numberAt(claims, 'exp'),
  };
}

function referenceAt(own: unknown, name: string): Reference | undefined {
  if (valueAt(own, name) === undefined) return undefined;
  return { name: textAt(own, name, 'name'), uid: textAt(own, name, 'uid') };
}

const extraKey = 'authentication.kubernetes.io';

/** The user that the token identifies, without the group of all authenticated users. */
export function userOfClaims({ id, namespace, account, pod, node }: AccountClaims): User {
  const references = { pod, node };
  const bound = Object.entries(references).flatMap(([kind, reference]) =>
    reference === undefined
      ? []
      : [
          [`${extraKey}/${kind}-name`, [reference.name]],
          [`${extraKey}/${kind}-uid`, [reference.uid]],
        ],
  );
  return {
    name: accountUserName(namespace, account.name),
    uid: account.uid,
    groups: accountGroups(namespace),
    extra: { [`${extraKey}/credential-id`]: [`JTI=${id}`], ...Object.fromEntries(bound) },
  };
}
