// Delegated authentication and authorization of page requests (apiserver `WithAuthentication`, `WithAuthorization`). If
// a review fails, the request is denied.
import { apiReason } from '../../machinery/api/api-error.ts';
import type { NonResourceAccess, UserInfo } from '../../machinery/api/reviews.ts';
import type { Answer, RequestInfo } from '../../machinery/page-server/observability-server.ts';
import type { ClientCertificate } from '../../machinery/page-server/page-listener.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { DelegatingAuthorizer } from './delegating-authorizer.ts';
import { pageRequestsTotal } from './metrics.ts';

interface DelegatedAuthFilterOptions extends Ambient {
  readonly authorizer: Pick<DelegatingAuthorizer, 'authenticate' | 'authorize'>;
  /** Paths that need no authentication and authorization. */
  readonly alwaysAllowPaths: readonly string[];
}

type AccessOutcome = 'allowed' | 'unauthenticated' | 'forbidden' | 'throttled' | 'failed';

interface Denial {
  readonly outcome: Exclude<AccessOutcome, 'allowed'>;
  readonly answer: Answer;
}

/** The group that needs no authorization, as by default in kube-controller-manager. */
const privilegedGroup = 'system:masters';
/** Minimum time between two log lines about failed reviews. */
const failureLogIntervalMs = 60_000;
const retryAfterSeconds = 1;

export class DelegatedAuthFilter {
  readonly #options: DelegatedAuthFilterOptions;
  #failureLoggedAtMs = -Infinity;

  constructor(options: DelegatedAuthFilterOptions) {
    this.#options = options;
  }

  /** Undefined if the request is allowed, otherwise the error response. Never rejects. */
  async refuse(request: RequestInfo): Promise<Answer | undefined> {
    const { pathname } = request.url;
    if (isAlwaysAllowed(pathname, this.#options.alwaysAllowPaths)) return undefined;
    const denial = await this.#evaluate(request, parseAccess(request.method, pathname));
    this.#options.meter.add(pageRequestsTotal, 1, { outcome: denial?.outcome ?? 'allowed' });
    return denial?.answer;
  }

  async #evaluate(request: RequestInfo, access: NonResourceAccess): Promise<Denial | undefined> {
    const user = await this.#userOf(request);
    return 'answer' in user ? user : this.#authorize(user, access);
  }

  /** A client certificate takes precedence over a token. A request without both is unauthenticated: no `system:anonymous`. */
  async #userOf(request: RequestInfo): Promise<UserInfo | Denial> {
    const subject = request.clientCertificate();
    const user = subject === undefined ? undefined : buildCertificateUser(subject);
    if (user !== undefined) return user;
    const token = parseBearerToken(request.authorization);
    return token === undefined ? unauthenticated : this.#authenticate(token);
  }

  async #authenticate(token: string): Promise<UserInfo | Denial> {
    const { authorizer: reviewer, logger } = this.#options;
    try {
      const decision = await reviewer.authenticate(token);
      if (decision === 'busy') return throttled;
      if (decision.authenticated) return decision.user;
      logger.debug({ why: decision.error }, 'token rejected by TokenReview');
    } catch (error) {
      this.#logFailure('tokenreviews.authentication.k8s.io', error);
    }
    // A TokenReview that fails is answered as unauthenticated too (apiserver `WithAuthentication`).
    return unauthenticated;
  }

  async #authorize(user: UserInfo, access: NonResourceAccess): Promise<Denial | undefined> {
    if (user.groups.includes(privilegedGroup)) return undefined;
    try {
      const decision = await this.#options.authorizer.authorize(user, access);
      if (decision === 'busy') return throttled;
      return decision.allowed ? undefined : this.#forbidden(user, access, decision.reason);
    } catch (error) {
      this.#logFailure('subjectaccessreviews.authorization.k8s.io', error);
      return failed;
    }
  }

  #forbidden({ username }: UserInfo, { verb, path }: NonResourceAccess, why: string): Denial {
    this.#options.logger.debug({ user: username, verb, path, why }, 'page request forbidden');
    const message = `forbidden: User ${JSON.stringify(username)} cannot ${verb} path ${JSON.stringify(path)}`;
    return { outcome: 'forbidden', answer: statusAnswer(403, 'Forbidden', message) };
  }

  #logFailure(resource: string, error: unknown): void {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#failureLoggedAtMs < failureLogIntervalMs) return;
    this.#failureLoggedAtMs = nowMs;
    const missing = apiReason(error) === 'forbidden' ? { missingPermission: `create ${resource}` } : {};
    logger.warn({ ...missing, err: error }, 'TokenReview or SubjectAccessReview failed; denying requests');
  }
}

const unauthenticated: Denial = {
  outcome: 'unauthenticated',
  answer: {
    ...statusAnswer(401, 'Unauthorized', 'Unauthorized'),
    headers: { 'www-authenticate': 'Bearer realm="node-lifecycle-controller"' },
  },
};

const throttled: Denial = {
  outcome: 'throttled',
  answer: {
    ...statusAnswer(
      429,
      'TooManyRequests',
      'too many requests by clients that are not authorized yet; try again later',
    ),
    headers: { 'retry-after': String(retryAfterSeconds) },
  },
};

const failed: Denial = {
  outcome: 'failed',
  answer: statusAnswer(500, 'InternalError', 'authorization failed: SubjectAccessReview is not available'),
};

/** An error response as the API server sends it. */
function statusAnswer(code: number, reason: string, message: string): Answer {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, contentType: 'application/json', body: `${JSON.stringify(status)}\n` };
}

/** The token in an `Authorization` header; undefined if it has none (apiserver `bearertoken`). */
export function parseBearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (header ?? '').trim().split(' ', 3);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

/** The common name is the user, the organizations are its groups (apiserver `x509.CommonNameUserConversion`). */
export function buildCertificateUser({ commonName, organizations }: ClientCertificate): UserInfo | undefined {
  if (commonName === '') return undefined;
  const groups = [...new Set([...organizations, 'system:authenticated'])];
  return { username: commonName, uid: '', groups, extra: {} };
}

/**
 * Verb and decoded path for RBAC's `nonResourceURLs`. `pathname` is the one that routes are matched with (dot segments
 * resolved), so that the authorized path and the served path are the same.
 */
export function parseAccess(method: string, pathname: string): NonResourceAccess {
  return { verb: method.toLowerCase(), path: decoded(pathname) };
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname; // not UTF-8: authorized by its raw text
  }
}

/** Whether the path that routes are matched with is in the list; an entry that ends with `*` matches a prefix (apiserver `path.NewAuthorizer`). */
export function isAlwaysAllowed(path: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => (entry.endsWith('*') ? path.startsWith(entry.slice(0, -1)) : path === entry));
}
