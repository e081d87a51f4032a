/** Limits of concurrent requests (upstream `--max-requests-inflight`, `--max-mutating-requests-inflight`). */
const readOnlyMax = 400;
const mutatingMax = 200;
/** Of requests that are forwarded to kubelets, which may last as long as a watch. */
const proxiedMax = 400;

interface Pool {
  count: number;
  readonly max: number;
}

export class InflightLimiter {
  readonly #readOnly = { count: 0, max: readOnlyMax };
  readonly #mutating = { count: 0, max: mutatingMax };
  readonly #proxied = { count: 0, max: proxiedMax };

  get inFlight(): number {
    return this.#readOnly.count + this.#mutating.count;
  }

  /** Returns the release function; undefined if the limit is reached. Watches are not counted. */
  acquire(method: string): (() => void) | undefined {
    return take(method === 'GET' || method === 'HEAD' ? this.#readOnly : this.#mutating);
  }

  /** The same for a request that is forwarded: slow kubelets take no room from other requests. */
  acquireProxied(): (() => void) | undefined {
    return take(this.#proxied);
  }
}

function take(pool: Pool): (() => void) | undefined {
  if (pool.count >= pool.max) return undefined;
  pool.count += 1;
  return () => {
    pool.count -= 1;
  };
}
