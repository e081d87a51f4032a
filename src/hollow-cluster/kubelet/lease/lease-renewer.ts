import { ApiError, apiReason } from '../../../machinery/api/api-error.ts';
import type { Lease } from '../../../machinery/api/lease.ts';
import type { OwnerReference } from '../../../machinery/api/meta.ts';
import { nodeLeaseNamespace } from '../../../machinery/api/resources.ts';
import { planFirstWait, planJittered } from '../loops/plan-phase.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import type { NodeOptions } from '../node-status/node-options.ts';
import { renewIntervalMs } from '../profile.ts';
import {
  decideAfterFailedReplace,
  buildNewLease,
  buildRenewedLease,
  isOwned,
  type LeaseTerms,
  leaseTriesMax,
} from './decide-renewal.ts';

const renewJitterShare = 0.04;
const ensureBackoffMsMin = 200;
const ensureBackoffMsMax = 7_000;

type LeaseRenewerOptions = Pick<
  NodeOptions,
  'name' | 'api' | 'clock' | 'random' | 'logger' | 'profile' | 'onRepeatedFailure'
>;

interface FoundLease {
  readonly lease: Lease;
  readonly created: boolean;
}

/**
 * Renews the node's lease (component-helpers `lease.controller`): a PUT each period, with up to 5 tries; a GET or a
 * create only if there is no lease to renew. The lease is not deleted at the end, as on a node that crashed.
 */
export class LeaseRenewer extends RestingLoop {
  readonly #options: LeaseRenewerOptions;
  /** From the first renewal to the second, as a share of the interval; undefined: an interval with jitter. */
  readonly #firstWait: number | undefined;
  #held: Lease | undefined;
  #renewedAtMs: number | undefined;
  #isFirst = true;

  constructor(options: LeaseRenewerOptions) {
    super(options.clock);
    this.#options = options;
    this.#firstWait = planFirstWait(options.profile.leasePhase, options.name, () => options.random.next());
  }

  /** Monotonic time of the last renewal that the API server confirmed. */
  get renewedAtMs(): number | undefined {
    return this.#renewedAtMs;
  }

  /** One renewal. Never rejects because of an API error: the next interval tries again. */
  async renew(signal: AbortSignal): Promise<void> {
    // A lease from the last success is updated without reading it again (component-helpers `sync`).
    if (this.#held !== undefined && (await this.#replace(this.#held, signal))) return;
    const found = await this.#ensure(signal);
    if (signal.aborted) return;
    // Without a lease the next renewal reads or creates it again.
    this.#held = found?.lease;
    if (found === undefined) return;
    if (found.created) this.#renewedAtMs = this.#options.clock.monotonicMs();
    else if (!(await this.#replace(found.lease, signal)) && !signal.aborted) {
      this.#options.logger.warn({ tries: leaseTriesMax }, 'failed to renew the lease');
    }
  }

  protected override get neverRings(): boolean {
    return true;
  }

  protected override begin(): void {
    this.#isFirst = true;
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    const waitMs = this.#waitMs(this.#isFirst ? this.#firstWait : undefined);
    this.#isFirst = false;
    await this.renew(signal);
    return waitMs;
  }

  #waitMs(share: number | undefined): number {
    const intervalMs = renewIntervalMs(this.#options.profile);
    if (share !== undefined) return intervalMs * share;
    return planJittered(intervalMs, renewJitterShare, this.#options.random.next());
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
      const renewed = buildRenewedLease(lease, this.#terms(), owner);
      this.#held = await this.#options.api.replace('leases', renewed, { signal });
      this.#renewedAtMs = this.#options.clock.monotonicMs();
      return undefined;
    } catch (error) {
      return this.#expected(error, 'failed to update the lease');
    }
  }

  /** The lease as the API server has it, created if there was none; undefined if it cannot be created yet. */
  async #ensure(signal: AbortSignal): Promise<FoundLease | undefined> {
    let backoffMs = ensureBackoffMsMin;
    while (!signal.aborted) {
      const found = await this.#getOrCreate(signal);
      if (found !== 'failed') return found;
      await this.#options.clock.sleep(backoffMs, signal);
      backoffMs = Math.min(backoffMs * 2, ensureBackoffMsMax);
    }
    return undefined;
  }

  async #getOrCreate(signal: AbortSignal): Promise<FoundLease | undefined | 'failed'> {
    const { api, name } = this.#options;
    try {
      const lease = await api.get('leases', { namespace: nodeLeaseNamespace, name }, { signal });
      return { lease, created: false };
    } catch (error) {
      if (apiReason(error) === 'not-found') return this.#create(signal);
      this.#expected(error, 'failed to get the lease');
      return 'failed';
    }
  }

  /** Without a Node object there is no owner for the lease: it is not created this time, which is not a failure. */
  async #create(signal: AbortSignal): Promise<FoundLease | undefined | 'failed'> {
    const owner = await this.#ownerIfKnown(signal);
    if (owner === undefined) return undefined;
    try {
      const created = await this.#options.api.create('leases', buildNewLease(this.#terms(), owner), { signal });
      return { lease: created, created: true };
    } catch (error) {
      this.#expected(error, 'failed to create the lease');
      return 'failed';
    }
  }

  async #ownerIfKnown(signal: AbortSignal): Promise<OwnerReference | undefined> {
    try {
      return await this.#owner(signal);
    } catch (error) {
      this.#expected(error, 'failed to get the node that owns the lease');
      return undefined;
    }
  }

  async #owner(signal: AbortSignal): Promise<OwnerReference> {
    const { api, name } = this.#options;
    const node = await api.get('nodes', { name }, { signal });
    return { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' };
  }

  #terms(): LeaseTerms {
    const { name, profile, clock } = this.#options;
    return { nodeName: name, durationSeconds: profile.leaseDurationSeconds, nowMs: clock.nowMs() };
  }

  /** API errors are expected and logged; anything else is a defect and is thrown. */
  #expected(error: unknown, what: string): ApiError {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== 'aborted') this.#options.logger.debug({ reason: error.reason }, what);
    return error;
  }
}
