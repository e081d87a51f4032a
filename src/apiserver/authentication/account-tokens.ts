/**
 * Tokens of service accounts (upstream `pkg/registry/core/serviceaccount/storage/token.go`): signed, limited in time, and
 * invalid as soon as the account or the object to which they are bound is gone.
 */
import { parseTimestamp } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import { makeUid } from '../registry/identity.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { type AccountClaims, readClaims, userOfClaims, writeClaims } from './account-claims.ts';
import type { User } from './user.ts';

/** Signs claims as a compact JSON Web Token. */
export interface TokenSigner {
  sign(claims: Readonly<Record<string, unknown>>): string;
  /** The claims of a token with a valid signature; undefined for any other text. */
  verify(token: string): unknown;
}

export type Identified =
  | { readonly user: User; readonly audiences: readonly string[] }
  /** The token is one of a service account, but not valid. */
  | { readonly error: string };

interface AccountTokensOptions {
  readonly store: VersionedStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly signer: TokenSigner;
}

type Subject = Pick<AccountClaims, 'namespace' | 'account' | 'pod' | 'node' | 'secret' | 'audiences'>;

/** An object in deletion still counts for this long. */
const deletionLeewayMs = 60_000;

export class AccountTokens {
  readonly #options: AccountTokensOptions;

  constructor(options: AccountTokensOptions) {
    this.#options = options;
  }

  issue(subject: Subject, expirationSeconds: number): { readonly token: string; readonly expiresAtMs: number } {
    const { clock, random, signer } = this.#options;
    const nowMs = clock.nowMs();
    const issuedAt = Math.floor(nowMs / 1_000);
    const claims = { ...subject, id: makeUid(random), issuedAt, expiresAt: issuedAt + expirationSeconds };
    return { token: signer.sign(writeClaims(claims)), expiresAtMs: nowMs + expirationSeconds * 1_000 };
  }

  /** Undefined for a text that is no token of this server. `wanted` are the accepted audiences. */
  identify(token: string, wanted: readonly string[]): Identified | undefined {
    const claims = readClaims(this.#options.signer.verify(token));
    if (claims === undefined) return undefined;
    const audiences = wanted.filter((audience) => claims.audiences.includes(audience));
    if (audiences.length === 0)
      return {
        error: `token audiences ${quoted(claims.audiences)} is invalid for the target audiences ${quoted(wanted)}`,
      };
    const error = this.#timeProblem(claims) ?? this.#referenceProblem(claims);
    return error === undefined ? { user: userOfClaims(claims), audiences } : { error };
  }

  #timeProblem({ issuedAt, expiresAt }: AccountClaims): string | undefined {
    const now = this.#options.clock.nowMs() / 1_000;
    if (now >= expiresAt) return 'service account token has expired';
    return now < issuedAt - deletionLeewayMs / 1_000 ? 'service account token is not valid yet' : undefined;
  }

  #referenceProblem({ namespace, account, pod, node, secret }: AccountClaims): string | undefined {
    const stored = this.#get('serviceaccounts', `${namespace}/${account.name}`);
    if (stored === undefined) return `serviceaccounts "${account.name}" not found`;
    if (stored.uid !== account.uid) return `service account UID (${stored.uid}) does not match claim (${account.uid})`;
    if (this.#isGone(stored)) return `service account ${namespace}/${account.name} has been deleted`;
    const references = [
      { reference: pod, object: this.#get('pods', `${namespace}/${pod?.name}`) },
      { reference: secret, object: this.#get('secrets', `${namespace}/${secret?.name}`) },
      // The node of a pod is information only.
      ...(pod === undefined ? [{ reference: node, object: this.#get('nodes', node?.name ?? '') }] : []),
    ];
    const isInvalid = references.some(
      ({ reference, object }) => reference !== undefined && (object?.uid !== reference.uid || this.#isGone(object)),
    );
    return isInvalid ? 'service account token has been invalidated' : undefined;
  }

  #get(table: string, key: string): StoredObject | undefined {
    return this.#options.store.get(table, key);
  }

  #isGone({ content }: StoredObject): boolean {
    const deletedAtMs = parseTimestamp(content.metadata.deletionTimestamp);
    return deletedAtMs !== undefined && deletedAtMs < this.#options.clock.nowMs() - deletionLeewayMs;
  }
}

function quoted(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
