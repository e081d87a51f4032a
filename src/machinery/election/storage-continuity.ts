import type { Lease } from '../api/lease.ts';
import { isOlder } from '../api/resource-version.ts';
import { formatMicroTime, parseTimestamp } from '../api/timestamps.ts';
import { type Clock, elapsedMs, type Instant, instantOf } from '../ports/clock.ts';
import type { ApiContact } from '../supervision/api-contact.ts';
import { restoreMarkOf } from './build-lease.ts';

interface ContinuityOptions {
  readonly clock: Clock;
  /** After so long without the lease it is unknown whether the storage went back meanwhile. */
  readonly gapMsMax: number;
  readonly contact: Pick<ApiContact, 'firstAnsweredAtMs'>;
}

/** A proxy that answers from an old state now and then must not cause one list of everything after the other. */
const restoresMsMin = 10_000;

/** Between the clock of the leader that left a mark and that of this process. */
const markSkewMs = 5_000;

interface SeenVersion {
  readonly lease: Lease;
  readonly version: string;
  readonly at: Instant;
  /** Since when this version is known to be new, on the monotonic clock; it was written then or, if infinite, at any time. */
  readonly sinceMs: number;
}

/**
 * Finds out from the lease of the leader election that the storage went back in time: etcd was restored from a backup. The
 * version of the lease only ever increases otherwise. For the leader that is certain, because only it writes the lease;
 * another replica may see the lease only after the leader renewed it, at a version that is newer again. So the leader leaves
 * a mark in the lease, and after a long gap the history is unverified: the lease has to be read as it was before the gap. The
 * wall clock shows the gap after a suspend. A lease that no leader renewed until the gap proves nothing: it may be in a backup that
 * is older than what the watches had delivered. Nor does one that this process could not read for so long since it received its first answer.
 */
export class StorageContinuity {
  readonly #clock: Clock;
  readonly #gapMsMax: number;
  readonly #contact: ContinuityOptions['contact'];
  readonly #unrenewedMsMax: number;
  /** The last response that contained the lease. */
  #seen: SeenVersion | undefined;
  /** The lease before the first gap since the history was verified, and when that gap ended. */
  #unverified: { readonly lease: Lease; readonly sinceMs: number } | undefined;
  #missingAtMs = Number.NEGATIVE_INFINITY;
  #mark: string | undefined;
  #restoredAtMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, gapMsMax, contact }: ContinuityOptions) {
    this.#clock = clock;
    this.#contact = contact;
    this.#gapMsMax = gapMsMax;
    this.#unrenewedMsMax = gapMsMax / 3;
  }

  /** The latest mark of a restore, of this process or in the lease: to be written into the lease. */
  get mark(): string | undefined {
    return this.#mark;
  }

  /** The state of the lease that has to be read at its version to verify the history; undefined if that is not needed. */
  get unverifiedLease(): Lease | undefined {
    return this.#unverified?.lease;
  }

  /**
   * To be called with each response that contains the lease; `writtenOn` is the version that a write replaced. True: the
   * storage was restored since the last one.
   */
  observe(lease: Lease, writtenOn?: string): boolean {
    const before = this.#seen;
    const seen = this.#toSeen(lease, writtenOn);
    const isMarked = this.#takeMark(lease, seen.at);
    const isBack = before !== undefined && isOlder(seen.version, before.version);
    const isRestored = isBack || isMarked;
    // The version before is kept, so that what is too soon now is reported by a later response.
    if (isRestored && this.#sinceRestoreMs(seen.at) < restoresMsMin) return false;
    this.#seen = seen;
    if (isRestored) return this.#found(seen.at, isBack);
    return before === undefined ? this.#isLateStart(seen.at) : this.#noticeGap(before, seen, writtenOn);
  }

  /** What the process has received until it saw the lease may be of a history of which it has seen no version. */
  #isLateStart(at: Instant): boolean {
    const sinceMs = Math.max(this.#contact.firstAnsweredAtMs, this.#missingAtMs);
    return at.monotonicMs - sinceMs > this.#gapMsMax && this.#assumed();
  }

  /**
   * To be called with each answer that there is no lease. True: the storage may have been restored before the first one. What follows was
   * read in time.
   */
  observeMissing(): boolean {
    const at = instantOf(this.#clock);
    const isLate = this.#seen === undefined && this.#isLateStart(at);
    this.#missingAtMs = at.monotonicMs;
    return isLate;
  }

  #toSeen(lease: Lease, writtenOn: string | undefined): SeenVersion {
    const at = instantOf(this.#clock);
    const version = lease.metadata.resourceVersion ?? '';
    const before = this.#seen;
    if (version === before?.version) return { lease, version, at, sinceMs: before.sinceMs };
    const isNew = before !== undefined || writtenOn !== undefined;
    return { lease, version, at, sinceMs: isNew ? at.monotonicMs : Number.NEGATIVE_INFINITY };
  }

  /** True: the storage may have been restored in the gap, and nothing can show it. */
  #noticeGap(before: SeenVersion, { version, at }: SeenVersion, writtenOn?: string): boolean {
    if (elapsedMs(before.at, at) <= this.#gapMsMax) return false;
    if (before.at.monotonicMs - before.sinceMs > this.#unrenewedMsMax) return this.#assumed();
    // A lease that is, or was replaced, at the version that was seen before proves the history.
    const isProven = [version, writtenOn].includes(before.version);
    if (!isProven) this.#unverified ??= { lease: before.lease, sinceMs: at.monotonicMs };
    return false;
  }

  /**
   * To be called with the answer to a read of the lease at the version of {@link unverifiedLease}. True: the storage was restored, or that
   * cannot be excluded, because the history is no longer kept or no answer came for as long as the gap was.
   */
  verify(history: 'same' | 'other' | 'no-answer'): boolean {
    if (this.#unverified === undefined) return false;
    const at = instantOf(this.#clock);
    if (history === 'no-answer' && at.monotonicMs - this.#unverified.sinceMs <= this.#gapMsMax) return false;
    this.#unverified = undefined;
    return history !== 'same' && this.#assumed();
  }

  /** Not a finding: what shows a restore soon after it is one more. */
  #assumed(): true {
    this.#unverified = undefined;
    return true;
  }

  #found({ monotonicMs, wallMs }: Instant, isOwnFinding: boolean): true {
    this.#restoredAtMs = monotonicMs;
    if (isOwnFinding) this.#mark = formatMicroTime(wallMs);
    return this.#assumed();
  }

  /** Whether the lease has another mark than before, and not of a restore that this process has just noticed itself. */
  #takeMark(lease: Lease, at: Instant): boolean {
    const mark = restoreMarkOf(lease);
    if (mark === undefined || mark === this.#mark) return false;
    this.#mark = mark;
    return this.#seen === undefined ? this.#isSinceStart(mark, at) : this.#sinceRestoreMs(at) > this.#gapMsMax;
  }

  /** The first lease has a mark that may be younger than what this process has received. */
  #isSinceStart(mark: string, { monotonicMs, wallMs }: Instant): boolean {
    const startedWallMs = wallMs - (monotonicMs - this.#contact.firstAnsweredAtMs);
    return (parseTimestamp(mark) ?? -Infinity) >= startedWallMs - markSkewMs;
  }

  #sinceRestoreMs({ monotonicMs }: Instant): number {
    return monotonicMs - this.#restoredAtMs;
  }
}
