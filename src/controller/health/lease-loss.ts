import type { Clock } from '../../machinery/ports/clock.ts';

/**
 * A living kubelet posts its status 7.5 minutes after the last time at the latest: five minutes, and half of that as jitter. A node
 * is suspect later than its last status by its grace period.
 */
const statusMsMax = 7.5 * 60_000;
/** Kubelets create their leases one by one, within seconds after their namespace exists again. */
const createdAgainMsMax = 60_000;

interface LeaseLossOptions {
  /** Whether a lease of this node was ever observed. */
  readonly hadLease: (node: string) => boolean;
  /** Most nodes have no lease in the cache. */
  readonly areMostMissing: () => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * The leases of most nodes are missing, as after the deletion of their namespace: kubelets cannot renew them, and only
 * their statuses, which come minutes apart, are heartbeats. A missing lease is no evidence then, for a bounded time.
 */
export class LeaseLoss {
  readonly #options: LeaseLossOptions;
  /** Time at which each node was first held, on the monotonic clock. */
  readonly #since = new Map<string, number>();
  /** When most leases were last found missing. */
  #missingAtMs = -Infinity;

  constructor(options: LeaseLossOptions) {
    this.#options = options;
  }

  /** Whether a node whose lease is missing is held: `begins` at the first time in this silence. */
  evaluate(node: string): 'begins' | 'held' | 'over' {
    const { hadLease, areMostMissing, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (areMostMissing()) this.#missingAtMs = nowMs;
    if (!hadLease(node) || nowMs - this.#missingAtMs >= createdAgainMsMax) return 'over';
    const sinceMs = this.#since.get(node);
    if (sinceMs !== undefined) return nowMs - sinceMs < statusMsMax ? 'held' : 'over';
    this.#since.set(node, nowMs);
    return 'begins';
  }

  /** The node sent a heartbeat, or no longer exists. */
  forget(node: string): void {
    this.#since.delete(node);
  }

  /** Number of nodes. */
  get size(): number {
    return this.#since.size;
  }
}
