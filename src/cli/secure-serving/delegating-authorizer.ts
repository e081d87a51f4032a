// TokenReviews and SubjectAccessReviews with a cache (apiserver's delegated authentication and authorization).
import { createHmac, randomBytes } from 'node:crypto';
import { ApiError } from '../../machinery/api/api-error.ts';
import { listOf, mapOf } from '../../machinery/api/json-map.ts';
import {
  type AccessDecision,
  type NonResourceAccess,
  pagesAudience,
  subjectAccessReview,
  subjectAccessReviewPath,
  type TokenAuthentication,
  tokenReview,
  tokenReviewPath,
  transformAccessReview,
  transformTokenReview,
  type UserInfo,
} from '../../machinery/api/reviews.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { Meter, MetricDefinition } from '../../machinery/ports/meter.ts';
import { authnRequestsTotal, authzRequestsTotal } from './metrics.ts';
import { ReviewCache, type ReviewRate } from './review-cache.ts';
import type { SecureServingValues } from './rules.ts';

/** Creates a review, which the API server does not store; HttpKubeApi implements it. */
export interface ReviewApi {
  review(path: string, review: object, options: { readonly signal: AbortSignal }): Promise<object>;
}

interface DelegatingAuthorizerOptions {
  readonly api: ReviewApi;
  readonly clock: Clock;
  readonly config: Pick<
    SecureServingValues,
    | 'authenticationTokenWebhookCacheTtlMs'
    | 'authorizationWebhookCacheAuthorizedTtlMs'
    | 'authorizationWebhookCacheUnauthorizedTtlMs'
  >;
  readonly meter: Meter;
  /** Aborts the reviews in flight. */
  readonly signal: AbortSignal;
}

const known: ReviewRate = { qps: 10, burst: 20 };
const unauthenticated: ReviewRate = { qps: 5, burst: 10 };
/** The sum of the limits of both kinds of review; a client with this rate never delays one. */
export const reviewRate: ReviewRate = { qps: 30, burst: 60 };
const entriesMax = 1_024;
/** A connection that is lost sooner than this was probably an idle one that the server had closed: the review is retried once. */
const lostAtOnceMs = 2_000;

interface ReviewKind {
  readonly path: string;
  readonly counter: MetricDefinition;
}

const tokenReviewKind: ReviewKind = { path: tokenReviewPath, counter: authnRequestsTotal };
const accessReviewKind: ReviewKind = { path: subjectAccessReviewPath, counter: authzRequestsTotal };

export class DelegatingAuthorizer {
  readonly #options: DelegatingAuthorizerOptions;
  readonly #tokens: ReviewCache<TokenAuthentication>;
  readonly #accesses: ReviewCache<AccessDecision>;
  /** Key of the HMAC under which tokens are cached, so that the cache contains no tokens (apiserver `tokencache`). */
  readonly #secret = randomBytes(32);

  constructor(options: DelegatingAuthorizerOptions) {
    const { clock, config } = options;
    const limits = { clock, entriesMax, known, unauthenticated };
    this.#options = options;
    this.#tokens = new ReviewCache({
      ...limits,
      isGood: ({ authenticated }) => authenticated,
      goodForMs: config.authenticationTokenWebhookCacheTtlMs,
      badForMs: config.authenticationTokenWebhookCacheTtlMs,
    });
    this.#accesses = new ReviewCache({
      ...limits,
      isGood: ({ allowed }) => allowed,
      goodForMs: config.authorizationWebhookCacheAuthorizedTtlMs,
      badForMs: config.authorizationWebhookCacheUnauthorizedTtlMs,
    });
  }

  /** The user of a token. `busy`: the rate limit is exceeded. Rejects with an ApiError if the review fails. */
  authenticate(token: string): Promise<TokenAuthentication | 'busy'> {
    const audience = parseTokenAudiences(token).includes(pagesAudience) ? pagesAudience : undefined;
    return this.#tokens.answer(this.#digest(token), async () =>
      transformTokenReview(await this.#review(tokenReviewKind, tokenReview(token, audience)), audience),
    );
  }

  /** Whether the user is allowed. `busy` and rejections as in {@link authenticate}. */
  authorize(user: UserInfo, access: NonResourceAccess): Promise<AccessDecision | 'busy'> {
    const review = subjectAccessReview(user, access);
    return this.#accesses.answer(this.#digest(JSON.stringify(review)), async () =>
      transformAccessReview(await this.#review(accessReviewKind, review)),
    );
  }

  /** A review stores nothing, so it can be repeated. */
  async #review(kind: ReviewKind, review: object): Promise<object> {
    const { clock } = this.#options;
    const sinceMs = clock.monotonicMs();
    try {
      return await this.#reviewOnce(kind, review);
    } catch (error) {
      const lostAtOnce = wasLost(error) && clock.monotonicMs() - sinceMs < lostAtOnceMs;
      if (!lostAtOnce) throw error;
      return await this.#reviewOnce(kind, review);
    }
  }

  async #reviewOnce({ path, counter }: ReviewKind, review: object): Promise<object> {
    const { api, meter, signal } = this.#options;
    try {
      const answer = await api.review(path, review, { signal });
      meter.add(counter, 1, { code: '201' });
      return answer;
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 0;
      meter.add(counter, 1, { code: code === 0 ? '<error>' : String(code) });
      throw error;
    }
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64');
  }
}

function wasLost(error: unknown): boolean {
  return error instanceof ApiError && error.code === 0 && ['timeout', 'unavailable'].includes(error.reason);
}

/**
 * The audiences that a token claims, without verification: they select the audience of the review, and the API server
 * verifies token and audience. Empty for a token that is no JWT.
 */
export function parseTokenAudiences(token: string): readonly string[] {
  const [, payload = '', signature] = token.split('.');
  if (signature === undefined) return [];
  const { aud } = mapOf(parsed(Buffer.from(payload, 'base64url').toString('utf8')));
  const audiences: readonly unknown[] = typeof aud === 'string' ? [aud] : listOf(aud);
  return audiences.filter((audience) => typeof audience === 'string');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not a JWT
  }
}
