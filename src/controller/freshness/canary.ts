// A watch can be open and late: an API server whose cache lags keeps sending old events. Only a write whose own watch
// event is measured detects that.
import { apiReason } from '../../machinery/api/api-error.ts';
import { objectKey } from '../../machinery/api/object-key.ts';
import { canaryLeaseName, nodeLeaseNamespace } from '../../machinery/api/resources.ts';
import { isOlder } from '../../machinery/api/resource-version.ts';
import type { Informer, InformerStatus } from '../../machinery/informer/informer.ts';
import type { LeaseView } from '../../machinery/api/lease.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { CanaryLease } from '../../machinery/ports/leases.ts';
import { canaryLatency } from './metrics.ts';
import type { Live } from '../../machinery/ports/live.ts';
import type { ControllerOptions } from '../model/options.ts';
import { planFreshness } from './plan-freshness.ts';

/** Time between a delivered write and the next one. */
const canaryPeriodMs = 5_000;
const lookMs = 1_000;
/** Time between the first two reopenings for one lag; doubled up to the maximum. */
const reopenMsMin = 30_000;
const reopenMsMax = 300_000;

interface CanaryOptions extends Ambient {
  readonly lease: CanaryLease;
  readonly leases: Pick<Informer<LeaseView>, 'onChange' | 'status'>;
  /** The watch is behind if it does not deliver a write within `contactMsMax` of the freshness plan. */
  readonly options: Live<Pick<ControllerOptions, 'nodeMonitorGracePeriodMs'>>;
  /** Reopens all watch streams: another API server may be further ahead. */
  readonly reopen: () => void;
}

interface Pending {
  readonly version: string;
  readonly acknowledgedAtMs: number;
}

/**
 * Writes the canary lease next to the node leases and measures the time until the watch delivers it. Failed writes are
 * ignored, as they show nothing about the watch; without permission it stops, with one warning.
 */
export class Canary {
  readonly #options: CanaryOptions;
  #pending: Pending | undefined;
  #shown = '';
  /** When the last list that has been processed was in the store. */
  #listedAtMs: number | undefined;
  #touchedAtMs = -Infinity;
  /** While the stream is behind. */
  #episode: { readonly reopenAtMs: number; readonly waitMs: number } | undefined;

  constructor(options: CanaryOptions) {
    this.#options = options;
  }

  /** The watch has not delivered a write that the API server accepted too long ago. */
  isBehind(): boolean {
    const status = this.#options.leases.status();
    this.#noticeList(status);
    this.#settle(status.resourceVersion);
    if (this.#pending === undefined) return false;
    const { contactMsMax } = planFreshness(this.#options.options.current().nodeMonitorGracePeriodMs);
    return this.#nowMs() - this.#pending.acknowledgedAtMs > contactMsMax;
  }

  /** Runs until the signal aborts or a write is forbidden. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.leases.onChange('watch-canary', ({ key, object }) => {
      if (key === objectKey(nodeLeaseNamespace, canaryLeaseName)) this.#settle(object.resourceVersion);
    });
    for (let permitted = true; permitted && !signal.aborted; ) {
      permitted = await this.#check(signal);
      if (permitted) await this.#options.clock.sleep(lookMs, signal);
    }
    unsubscribe();
    this.#pending = undefined;
  }

  async #check(signal: AbortSignal): Promise<boolean> {
    if (this.isBehind() && this.#pending !== undefined) this.#reopenWhenDue(this.#pending);
    const due = this.#pending === undefined && this.#nowMs() - this.#touchedAtMs >= canaryPeriodMs;
    return due ? this.#touch(signal) : true;
  }

  /** False if the write is forbidden. */
  async #touch(signal: AbortSignal): Promise<boolean> {
    const { lease, logger } = this.#options;
    this.#touchedAtMs = this.#nowMs();
    try {
      const version = await lease.touch(signal);
      this.#noticeList(this.#options.leases.status());
      this.#pending = { version, acknowledgedAtMs: this.#nowMs() };
      this.#settle(this.#shown);
    } catch (error) {
      if (apiReason(error) !== 'forbidden') {
        logger.debug({ err: error }, 'writing the canary lease failed');
        return true;
      }
      const missing = `create and patch of leases in ${nodeLeaseNamespace}`;
      logger.warn({ missing }, 'watch canary disabled, its lease may not be written');
      return false;
    }
    return true;
  }

  /**
   * A list that is older than a write acknowledged before it comes from a storage that went back in time (etcd restored
   * from a backup), or was read before the write: no watch may ever deliver that version. The write is repeated.
   */
  #noticeList({ lastListAtMs, resourceVersion }: InformerStatus): void {
    if (lastListAtMs === this.#listedAtMs) return;
    this.#listedAtMs = lastListAtMs;
    this.#shown = resourceVersion;
    if (this.#pending === undefined || !isOlder(resourceVersion, this.#pending.version)) return;
    this.#options.logger.info(
      { listed: resourceVersion, written: this.#pending.version },
      'leases were listed at a version before the last write of the canary lease; writing it again',
    );
    this.#pending = undefined;
    this.#episode = undefined;
    this.#touchedAtMs = -Infinity;
  }

  /** The watch has reached this version, possibly before the response to the write arrives. */
  #settle(shown: string): void {
    if (this.#shown === '' || isOlder(this.#shown, shown)) this.#shown = shown;
    const { meter, logger } = this.#options;
    if (this.#pending === undefined || isOlder(this.#shown, this.#pending.version)) return;
    meter.observe(canaryLatency, (this.#nowMs() - this.#pending.acknowledgedAtMs) / 1_000);
    this.#pending = undefined;
    if (this.#episode !== undefined) logger.info({}, 'lease watch caught up');
    this.#episode = undefined;
  }

  /** The reopened watch may be served by an API server that lags as much. */
  #reopenWhenDue(pending: Pending): void {
    const nowMs = this.#nowMs();
    const { reopenAtMs, waitMs } = this.#episode ?? { reopenAtMs: nowMs, waitMs: reopenMsMin };
    if (nowMs < reopenAtMs) return;
    this.#episode = { reopenAtMs: nowMs + waitMs, waitMs: Math.min(waitMs * 2, reopenMsMax) };
    const behindMs = Math.round(nowMs - pending.acknowledgedAtMs);
    this.#options.logger.warn({ behindMs }, 'lease watch is behind, reopening watch streams');
    this.#options.reopen();
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}
