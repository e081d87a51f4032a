// Who may read a page: first who it is, then whether it may (apiserver `WithAuthentication`, `WithAuthorization`). In doubt
// nobody may.
import { apiReason } from '../../api/api-error.ts';
import type { NonResourceAccess, UserInfo } from '../../api/reviews.ts';
import type { Answer, Asking } from '../../adapters/observability-server.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import { deriveAccess, deriveBearerToken, deriveCertificateUser, isAlwaysAllowed } from './derive-access.ts';
import { pageRequestsTotal } from './metrics.ts';
import type { Reviewer } from './reviewer.ts';

export interface PageGateOptions {
  readonly reviewer: Pick<Reviewer, 'authenticate' | 'authorize'>;
  /** Paths that everybody may read. */
  readonly alwaysAllowPaths: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: Meter;
}

type Outcome = 'allowed' | 'unauthenticated' | 'forbidden' | 'throttled' | 'failed';

interface Refusal {
  readonly outcome: Exclude<Outcome, 'allowed'>;
  readonly answer: Answer;
}

/** kube-controller-manager's own default: to it nothing is forbidden. */
const privilegedGroup = 'system:masters';
/** Reviews that fail are told of, though not each of them. */
const troubleTellMs = 60_000;
const retryAfterSeconds = 1;

export class PageGate {
  readonly #options: PageGateOptions;
  #troubleToldAtMs = -Infinity;

  constructor(options: PageGateOptions) {
    this.#options = options;
  }

  /** Undefined: this request may. Otherwise the answer that it gets instead of the page. Never rejects. */
  async refuse(asking: Asking): Promise<Answer | undefined> {
    const { pathname } = asking.url;
    if (isAlwaysAllowed(pathname, this.#options.alwaysAllowPaths)) return undefined;
    const refusal = await this.#judge(asking, deriveAccess(asking.method, pathname));
    this.#options.meter.add(pageRequestsTotal, 1, { outcome: refusal?.outcome ?? 'allowed' });
    return refusal?.answer;
  }

  async #judge(asking: Asking, access: NonResourceAccess): Promise<Refusal | undefined> {
    const user = await this.#userOf(asking);
    return 'answer' in user ? user : this.#authorize(user, access);
  }

  /** A certificate comes first. Whoever shows neither that nor a token is nobody: there is no `system:anonymous` here. */
  async #userOf(asking: Asking): Promise<UserInfo | Refusal> {
    const subject = asking.clientCertificate();
    const user = subject === undefined ? undefined : deriveCertificateUser(subject);
    if (user !== undefined) return user;
    const token = deriveBearerToken(asking.authorization);
    return token === undefined ? unauthenticated : this.#authenticate(token);
  }

  async #authenticate(token: string): Promise<UserInfo | Refusal> {
    const { reviewer, logger } = this.#options;
    try {
      const verdict = await reviewer.authenticate(token);
      if (verdict === 'busy') return throttled;
      if (verdict.authenticated) return verdict.user;
      logger.debug({ why: verdict.error }, 'a token was refused');
    } catch (error) {
      this.#tellTrouble('tokenreviews.authentication.k8s.io', error);
    }
    // Not being able to ask is no different to who stands outside (apiserver `WithAuthentication`).
    return unauthenticated;
  }

  async #authorize(user: UserInfo, access: NonResourceAccess): Promise<Refusal | undefined> {
    if (user.groups.includes(privilegedGroup)) return undefined;
    try {
      const verdict = await this.#options.reviewer.authorize(user, access);
      if (verdict === 'busy') return throttled;
      return verdict.allowed ? undefined : this.#forbidden(user, access, verdict.reason);
    } catch (error) {
      this.#tellTrouble('subjectaccessreviews.authorization.k8s.io', error);
      return failed;
    }
  }

  #forbidden({ username }: UserInfo, { verb, path }: NonResourceAccess, why: string): Refusal {
    this.#options.logger.debug({ user: username, verb, path, why }, 'a page was refused');
    const message = `forbidden: User ${JSON.stringify(username)} cannot ${verb} path ${JSON.stringify(path)}`;
    return { outcome: 'forbidden', answer: statusAnswer(403, 'Forbidden', message) };
  }

  #tellTrouble(resource: string, error: unknown): void {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#troubleToldAtMs < troubleTellMs) return;
    this.#troubleToldAtMs = nowMs;
    const missing = apiReason(error) === 'forbidden' ? { missingPermission: `create ${resource}` } : {};
    logger.warn({ ...missing, err: error }, 'who asks for a page cannot be reviewed: nobody is let in meanwhile');
  }
}

const unauthenticated: Refusal = {
  outcome: 'unauthenticated',
  answer: {
    ...statusAnswer(401, 'Unauthorized', 'Unauthorized'),
    headers: { 'www-authenticate': 'Bearer realm="node-lifecycle-controller"' },
  },
};

const throttled: Refusal = {
  outcome: 'throttled',
  answer: {
    ...statusAnswer(429, 'TooManyRequests', 'too many requests by those who were not let in before; try again later'),
    headers: { 'retry-after': String(retryAfterSeconds) },
  },
};

const failed: Refusal = {
  outcome: 'failed',
  answer: statusAnswer(500, 'InternalError', 'who may read this cannot be found out now'),
};

/** As the API server refuses. */
function statusAnswer(code: number, reason: string, message: string): Answer {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, contentType: 'application/json', body: `${JSON.stringify(status)}\n` };
}
