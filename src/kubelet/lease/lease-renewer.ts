import { ApiError, apiReason } from '../../api/api-error.ts';
import type { Lease } from '../../api/lease.ts';
import type { OwnerReference } from '../../api/meta.ts';
import { nodeLeaseNamespace } from '../../api/resources.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { deriveJittered } from '../derive-phase.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import {
  decideAfterFailedReplace,
  decideRenewal,
  deriveNewLease,
  deriveRenewedLease,
  isOwned,
  type LeaseTerms,
  leaseTriesMax,
} from './decide-renewal.ts';

const renewJitterShare = 0.04;
const ensureBackoffMsMin = 200;
const ensureBackoffMsMax = 7_000;

export interface LeaseRenewerOptions {
  readonly nodeName: string;
  readonly api: KubeReader & KubeWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly leaseDurationSeconds: number;
  readonly renewIntervalMs: number;
  /** From the first renewal to the second; the interval when absent. */
  readonly firstWaitMs?: number;
  /** Called after the second and each further try that failed in one renewal: the connection may be at fault. */
  readonly onRepeatedFailure?: () => void;
}

/**
 * Keeps the node's lease fresh (component-helpers `lease.controller`): a PUT each period, with up to 5 tries, and a look
 * or a creation only where there is nothing to renew. The lease is left behind at the end, as a crashed node's would be.
 */
export class LeaseRenewer extends RestingLoop {
  readonly #options: LeaseRenewerOptions;
  #held: Lease | undefined;
  #renewedAtMs: number | undefined;
  #isPaused = false;
  #isFirst = true;

  constructor(options: LeaseRenewerOptions) {
    super(options.clock);
    this.#options = options;
  }

  /** Monotonic time of the last renewal that the API server confirmed. */
  get renewedAtMs(): number | undefined {
    return this.#renewedAtMs;
  }

  /** While it is paused it renews nothing; its periods go on. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
  }

  /** Renews at once, after the first wait, and then every interval until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return runAlone(this, signal);
  }

  /** One renewal. Never rejects for what the API server answers: the next interval tries again. */
  async renew(signal: AbortSignal): Promise<void> {
    const step = decideRenewal(this.#held);
    if (step.next === 'replace' && (await this.#replace(step.lease, signal))) return;
    const found = await this.#ensure(signal);
    if (signal.aborted) return;
    // Without one there is nothing to renew next time either.
    this.#held = found?.lease;
    if (found === undefined) return;
    if (found.created) this.#renewedAtMs = this.#options.clock.monotonicMs();
    else if (!(await this.#replace(found.lease, signal)) && !signal.aborted) {
      this.#options.logger.warn({ tries: leaseTriesMax }, 'failed to renew the lease');
    }
  }

  protected override get isDeaf(): boolean {
    return true;
  }

  protected override begin(): void {
    this.#isFirst = true;
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const waitMs = (this.#isFirst ? this.#options.firstWaitMs : undefined) ?? this.#intervalMs();
    this.#isFirst = false;
    if (!this.#isPaused) await this.renew(signal);
    return waitMs;
  }

  #intervalMs(): number {
    const { renewIntervalMs, random } = this.#options;
    return deriveJittered(renewIntervalMs, renewJitterShare, random.next());
  }

  async #replace(base: Lease, signal: AbortSignal): Promise<boolean> {
    let lease = base;
    for (let tries = 1; !signal.aborted; tries++) {
      const failed = await this.#replaceOnce(lease, signal);
      if (failed === undefined) return true;
      const next = decideAfterFailedReplace(apiReason(failed), tries);
      if (next === 'ensure-again') {
        const found = await this.#ensure(signal);
        if (found === undefined) return false;
        lease = found.lease;
      } else if (tries > 1 && apiReason(failed) !== 'aborted') this.#options.onRepeatedFailure?.();
      if (next === 'give-up') return false;
    }
    return false;
  }

  async #replaceOnce(lease: Lease, signal: AbortSignal): Promise<ApiError | undefined> {
    try {
      const owner = isOwned(lease) ? undefined : await this.#owner(signal);
      const renewed = deriveRenewedLease(lease, this.#terms(), owner);
      this.#held = await this.#options.api.replace('leases', renewed, { signal });
      this.#renewedAtMs = this.#options.clock.monotonicMs();
      return undefined;
    } catch (error) {
      return this.#expected(error, 'a renewal of the lease failed');
    }
  }

  /** The lease as the API server has it, created where there was none; undefined where it cannot be created yet. */
  async #ensure(signal: AbortSignal): Promise<{ readonly lease: Lease; readonly created: boolean } | undefined> {
    let backoffMs = ensureBackoffMsMin;
    while (!signal.aborted) {
      const found = await this.#lookOrCreate(signal);
      if (found !== 'failed') return found;
      await this.#options.clock.sleep(backoffMs, signal);
      backoffMs = Math.min(backoffMs * 2, ensureBackoffMsMax);
    }
    return undefined;
  }

  async #lookOrCreate(
    signal: AbortSignal,
  ): Promise<{ readonly lease: Lease; readonly created: boolean } | undefined | 'failed'> {
    const { api, nodeName } = this.#options;
    try {
      const lease = await api.get('leases', { namespace: nodeLeaseNamespace, name: nodeName }, { signal });
      return { lease, created: false };
    } catch (error) {
      if (apiReason(error) === 'not-found') return this.#create(signal);
      this.#expected(error, 'the lease could not be looked up');
      return 'failed';
    }
  }

  /** Without its node there is nobody to own the lease: then none is made this time, and that is no failure. */
  async #create(
    signal: AbortSignal,
  ): Promise<{ readonly lease: Lease; readonly created: true } | undefined | 'failed'> {
    const owner = await this.#ownerIfKnown(signal);
    if (owner === undefined) return undefined;
    try {
      const created = await this.#options.api.create('leases', deriveNewLease(this.#terms(), owner), { signal });
      return { lease: created, created: true };
    } catch (error) {
      this.#expected(error, 'the lease could not be created');
      return 'failed';
    }
  }

  async #ownerIfKnown(signal: AbortSignal): Promise<OwnerReference | undefined> {
    try {
      return await this.#owner(signal);
    } catch (error) {
      this.#expected(error, 'the node that owns the lease could not be looked up');
      return undefined;
    }
  }

  async #owner(signal: AbortSignal): Promise<OwnerReference> {
    const { api, nodeName: name } = this.#options;
    const node = await api.get('nodes', { name }, { signal });
    return { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' };
  }

  #terms(): LeaseTerms {
    const { nodeName, leaseDurationSeconds, clock } = this.#options;
    return { nodeName, durationSeconds: leaseDurationSeconds, nowMs: clock.nowMs() };
  }

  /** What the API server may answer is part of the day; anything else is a defect and goes up. */
  #expected(error: unknown, what: string): ApiError {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== 'aborted') this.#options.logger.debug({ reason: error.reason }, what);
    return error;
  }
}
