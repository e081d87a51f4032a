import type { Lease } from '../api/lease.ts';
import { isOlder } from '../api/resource-version.ts';
import { formatMicroTime } from '../api/timestamps.ts';
import type { Clock } from '../ports/clock.ts';
import { restoreMarkOf } from './build-lease.ts';
import { elapsedMs, type Instant, instantOf } from './lease-deadline.ts';

/** A proxy that answers from an old state now and then must not cause one list of everything after the other. */
const restoresMsMin = 10_000;

interface Seen {
  readonly version: string;
  readonly at: Instant;
}

/**
 * Finds out from the lease of the leader election that the storage went back in time: etcd was restored from a backup. The
 * version of the lease only ever increases otherwise. For the leader that is certain, because only it writes the lease;
 * another replica may see the lease only after the leader renewed it, at a version that is newer again. So the leader leaves
 * a mark in the lease, and a long gap counts as a restore; the wall clock shows it after a suspend.
 */
export class StorageContinuity {
  readonly #clock: Clock;
  readonly #gapMsMax: number;
  /** The last response that contained the lease. */
  #seen: Seen | undefined;
  #mark: string | undefined;
  #restoredAtMs = Number.NEGATIVE_INFINITY;

  /** After `gapMsMax` without the lease it is unknown whether the storage went back meanwhile. */
  constructor(clock: Clock, gapMsMax: number) {
    this.#clock = clock;
    this.#gapMsMax = gapMsMax;
  }

  /** The latest mark of a restore, of this process or in the lease: to be written into the lease. */
  get mark(): string | undefined {
    return this.#mark;
  }

  /** To be called with each response that contains the lease. True: the storage may have been restored since the last one. */
  observe(lease: Lease): boolean {
    const seen = { version: lease.metadata.resourceVersion ?? '', at: instantOf(this.#clock) };
    const isMarked = this.#takeMark(lease, seen.at);
    const before = this.#seen;
    const isBack = before !== undefined && isOlder(seen.version, before.version);
    const mayBeRestored =
      before !== undefined && (isBack || isMarked || elapsedMs(before.at, seen.at) > this.#gapMsMax);
    // The version before is kept, so that what is too soon now is reported by a later response.
    if (mayBeRestored && this.#sinceRestoreMs(seen.at) < restoresMsMin) return false;
    this.#seen = seen;
    if (!mayBeRestored) return false;
    this.#restoredAtMs = seen.at.monotonicMs;
    if (isBack) this.#mark = formatMicroTime(seen.at.wallMs);
    return true;
  }

  /** Whether the lease has another mark than before, and not of a restore that this process has just noticed itself. */
  #takeMark(lease: Lease, at: Instant): boolean {
    const mark = restoreMarkOf(lease);
    if (mark === undefined || mark === this.#mark) return false;
    this.#mark = mark;
    return this.#sinceRestoreMs(at) > this.#gapMsMax;
  }

  #sinceRestoreMs({ monotonicMs }: Instant): number {
    return monotonicMs - this.#restoredAtMs;
  }
}
