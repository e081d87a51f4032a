// Rules of the fault proxy. A rule matches requests by method, path and body, and ends after a number of requests or a time,
// or when the test removes it.

/** Requests that no rule matches are forwarded. */
type Fault =
  /** The proxy answers; the server never sees the request. */
  | ({ readonly kind: 'answer' } & FaultAnswer)
  /** Not forwarded and never answered; the connection stays open. */
  | { readonly kind: 'hang' }
  /** Not forwarded; the connection is closed. */
  | { readonly kind: 'cut' }
  /** Forwarded after this many milliseconds, even if the client has closed the connection meanwhile. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Forwarded when the rule is removed. */
  | { readonly kind: 'hold' }
  /** Forwarded; when the server has answered, the connection is closed and the answer dropped. */
  | { readonly kind: 'lose-answer' };

export interface FaultAnswer {
  readonly code: number;
  readonly retryAfterSeconds?: number;
  /**
   * `plain`: one line of text, as a load balancer or proxy answers. `status`: a Kubernetes Status that names no object, as
   * kube-apiserver answers for an overload, an admission webhook or a path that it does not serve.
   */
  readonly form: 'plain' | 'status';
  /** Text of the plain body, or message of the Status. */
  readonly message?: string;
}

export interface FaultRule {
  /** All methods when absent. */
  readonly methods?: readonly string[];
  /** Tested against the path with its query. */
  readonly path: RegExp;
  /** Tested against the request's body. */
  readonly body?: RegExp;
  /** The rule ends after this many requests. */
  readonly times?: number;
  /** The rule matches at most this many requests of one method, path and matched part of the body. */
  readonly timesEach?: number;
  /** The rule ends this long after it was added. */
  readonly forMs?: number;
  readonly fault: Fault;
}

interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** An active rule. */
export class ActiveFault {
  readonly fault: Fault;
  /** When each matched request arrived, on the clock of `performance.now()`. */
  readonly hitsAtMs: number[] = [];
  readonly #rule: FaultRule;
  readonly #endsAtMs: number;
  readonly #each = new Map<string, number>();
  readonly #removed = Promise.withResolvers<void>();
  #isRemoved = false;

  constructor(rule: FaultRule, nowMs: number) {
    this.#rule = rule;
    this.fault = rule.fault;
    this.#endsAtMs = nowMs + (rule.forMs ?? Infinity);
  }

  get hits(): number {
    return this.hitsAtMs.length;
  }

  /** Resolves when the rule is removed. */
  get removed(): Promise<void> {
    return this.#removed.promise;
  }

  /** Stops matching requests; held requests are forwarded. */
  remove(): void {
    this.#isRemoved = true;
    this.#removed.resolve();
  }

  /** Counts the request if the rule matches it. */
  take(request: RequestFacts, nowMs: number): boolean {
    const key = this.#match(request);
    if (key === undefined || this.#isRemoved || nowMs >= this.#endsAtMs) return false;
    const { times = Infinity, timesEach = Infinity } = this.#rule;
    const earlier = this.#each.get(key) ?? 0;
    if (this.hits >= times || earlier >= timesEach) return false;
    this.#each.set(key, earlier + 1);
    this.hitsAtMs.push(nowMs);
    return true;
  }

  #match({ method, path, body }: RequestFacts): string | undefined {
    const { methods, path: pathPattern, body: bodyPattern } = this.#rule;
    if (methods?.includes(method) === false || !pathPattern.test(path)) return undefined;
    const inBody = bodyPattern === undefined ? [''] : bodyPattern.exec(body);
    return inBody === null ? undefined : [method, path, inBody[0]].join(' ');
  }
}

interface EncodedAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function encodeAnswer({
  code,
  retryAfterSeconds,
  form,
  message = 'injected fault',
}: FaultAnswer): EncodedAnswer {
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  if (form === 'plain')
    return { code, headers: { ...retryAfter, 'content-type': 'text/plain; charset=utf-8' }, body: `${message}\n` };
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code, ...details };
  const body = JSON.stringify({ ...status, reason: reasons[code] ?? 'Unknown' });
  return { code, headers: { ...retryAfter, 'content-type': 'application/json' }, body };
}
