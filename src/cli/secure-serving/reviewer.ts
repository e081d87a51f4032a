// The API server's word on who somebody is and what it may read, remembered for a while (apiserver's delegated
// authentication and authorisation).
import { createHmac, randomBytes } from 'node:crypto';
import { ApiError } from '../../api/api-error.ts';
import {
  type AccessVerdict,
  type NonResourceAccess,
  subjectAccessReview,
  subjectAccessReviewPath,
  tokenReview,
  tokenReviewPath,
  type TokenVerdict,
  type UserInfo,
  viewAccessVerdict,
  viewTokenVerdict,
} from '../../api/reviews.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter, MetricDefinition } from '../../ports/meter.ts';
import { authnRequestsTotal, authzRequestsTotal } from './metrics.ts';
import { ReviewCache, type ReviewRate } from './review-cache.ts';

/** Asks a question that is not stored; an HttpKubeApi does. */
export interface ReviewApi {
  review(path: string, question: object, options: { readonly signal: AbortSignal }): Promise<object>;
}

export interface ReviewerOptions {
  readonly api: ReviewApi;
  readonly clock: Clock;
  readonly tokenTtlMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly meter: Meter;
  /** Ends what is being asked. */
  readonly signal: AbortSignal;
}

const known: ReviewRate = { qps: 10, burst: 20 };
const strangers: ReviewRate = { qps: 5, burst: 10 };
/** What both kinds of question can come to together; a connection with this rate never makes one wait. */
export const reviewRate: ReviewRate = { qps: 30, burst: 60 };
const entriesMax = 1_024;
/** A connection that is lost sooner than this was likely an old one that the other side had closed: a new one may do. */
const lostAtOnceMs = 2_000;

interface QuestionKind {
  readonly path: string;
  readonly counter: MetricDefinition;
}

const tokenQuestion: QuestionKind = { path: tokenReviewPath, counter: authnRequestsTotal };
const accessQuestion: QuestionKind = { path: subjectAccessReviewPath, counter: authzRequestsTotal };

export class Reviewer {
  readonly #options: ReviewerOptions;
  readonly #tokens: ReviewCache<TokenVerdict>;
  readonly #accesses: ReviewCache<AccessVerdict>;
  /** Tokens are kept as digests that nobody can compute without this (apiserver `tokencache`). */
  readonly #secret = randomBytes(32);

  constructor(options: ReviewerOptions) {
    const { clock, tokenTtlMs, authorizedTtlMs, unauthorizedTtlMs } = options;
    const limits = { clock, entriesMax, known, strangers };
    this.#options = options;
    this.#tokens = new ReviewCache({
      ...limits,
      isGood: ({ authenticated }) => authenticated,
      goodForMs: tokenTtlMs,
      badForMs: tokenTtlMs,
    });
    this.#accesses = new ReviewCache({
      ...limits,
      isGood: ({ allowed }) => allowed,
      goodForMs: authorizedTtlMs,
      badForMs: unauthorizedTtlMs,
    });
  }

  /** Whose token it is. `busy`: too many are asked about. Rejects with an ApiError when there is no answer. */
  authenticate(token: string): Promise<TokenVerdict | 'busy'> {
    return this.#tokens.answer(this.#digest(token), async () =>
      viewTokenVerdict(await this.#review(tokenQuestion, tokenReview(token))),
    );
  }

  /** Whether the user may. `busy` and rejections as in {@link authenticate}. */
  authorize(user: UserInfo, access: NonResourceAccess): Promise<AccessVerdict | 'busy'> {
    const question = subjectAccessReview(user, access);
    return this.#accesses.answer(this.#digest(JSON.stringify(question)), async () =>
      viewAccessVerdict(await this.#review(accessQuestion, question)),
    );
  }

  /** Nothing is stored, so that asking twice is the same as asking once. */
  async #review(kind: QuestionKind, question: object): Promise<object> {
    const { clock } = this.#options;
    const sinceMs = clock.monotonicMs();
    try {
      return await this.#reviewOnce(kind, question);
    } catch (error) {
      const lostAtOnce = wasLost(error) && clock.monotonicMs() - sinceMs < lostAtOnceMs;
      if (!lostAtOnce) throw error;
      return await this.#reviewOnce(kind, question);
    }
  }

  async #reviewOnce({ path, counter }: QuestionKind, question: object): Promise<object> {
    const { api, meter, signal } = this.#options;
    try {
      const answer = await api.review(path, question, { signal });
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
