/** Limits of concurrent requests (upstream `--max-requests-inflight`, `--max-mutating-requests-inflight`). */
const readOnlyMax = 400;
const mutatingMax = 200;

interface Pool {
  count: number;
  readonly max: number;
}

export class InflightLimiter {
  readonly #readOnly = { count: 0, max: readOnlyMax };
  readonly #mutating = { count: 0, max: mutatingMax };

  get inFlight(): number {
    return this.#readOnly.count + this.#mutating.count;
  }

  /** Returns the release function; undefined if the limit is reached. Watches are not counted. */
  acquire(method: string): (() => void) | undefined {
    return take(method === 'GET' || method === 'HEAD' ? this.#readOnly : this.#mutating);
  }
}

function take(pool: Pool): (() => void) | undefined {
  if (pool.count >= pool.max) return undefined;
  pool.count += 1;
  return () => {
    pool.count -= 1;
  };
}
