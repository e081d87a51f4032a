import type { ResourceName } from '../api/resources.ts';
import type { Ambient } from '../ports/ambient.ts';
import type { KubeReader, Selection, WatchEvent, WatchOptions, WatchStream } from '../ports/kube-reader.ts';
import type { Random } from '../ports/random.ts';
import { ApiContact } from '../supervision/api-contact.ts';
import {
  countsAgainstVersion,
  decideNextStep,
  isConsistent,
  type ListAttempt,
  type Plan,
  type RelistRequest,
  type Step,
  type StepEnd,
} from './decide-next-step.ts';
import { isOlder } from '../api/resource-version.ts';
import {
  reflectorLastVersion,
  reflectorListDuration,
  reflectorListItems,
  reflectorLists,
  reflectorRelists,
  reflectorShortWatches,
  reflectorWatchDuration,
  reflectorWatches,
  reflectorWatchErrors,
} from './metrics.ts';
import { ObjectMap } from './object-map.ts';
import {
  type InitialLimits,
  listRefusedMs,
  planInitialLimits,
  readPages,
  readStorageVersion,
  type ShownVersion,
} from './read-pages.ts';
import { RetryDelay, retryMsMax, unsyncedRetryMsMax } from './retry-delay.ts';
import type { ObjectReader } from './object-reader.ts';
import {
  describeEnd,
  errorOutcome,
  isSent,
  isUnanswered,
  requestFailure,
  type StepOutcome,
  streamFailure,
} from './step-outcome.ts';
import { type CompleteState, type Delta, type ErrorEvent, keepInState, WatchHandler } from './watch-handler.ts';
import { StreamRecord, WatchGuard } from './watch-guard.ts';

const watchSecondsMin = 300;
const watchSecondsMax = 600;
/** Grace period beyond the timeoutSeconds of the watch. */
const watchOverrunMsMax = 15_000;
/** Bookmarks are requested, and arrive once a minute. */
export const quietMsMaxDefault = 90_000;
/** A watch that ends sooner without events is a failure (client-go `VeryShortWatchError`). */
const shortWatchMsMax = 1_000;
/** Minimum interval between two lists that are made because a deletion may have been skipped. */
const missedDeletionRelistMs = 600_000;
/** Two complete states within this time need no delay; a third one does. */
const recentListMs = 10_000;
/** While lists are refused the watch is tried so often before a list that a caller asks for: it may hang for as long as half of that. */
const watchEveryMs = 60_000;

interface ReflectorOptions<T extends object> extends Ambient {
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly reader: ObjectReader<T>;
  /** The contents of the store. */
  readonly stored: () => ObjectMap<T>;
  /**
   * Puts a complete state into the store and delivers what differs. Takes ownership of the map. `isSameHistory`: false where the storage may
   * have been restored since the last one.
   */
  readonly replace: (objects: ObjectMap<T>, isSameHistory: boolean) => void;
  /** Applies changes in order and delivers them, before any other code runs. */
  readonly apply: (deltas: readonly Delta<T>[]) => void;
  readonly api: KubeReader;
  readonly random: Random;
  readonly quietMsMax: QuietLimit;
  /** Shared by all clients of the process; one of its own when absent. */
  readonly contact?: ApiContact | undefined;
  /** Called with the version of the storage when a consistent read has shown it. */
  readonly onVersion?: (shown: ShownVersion) => void;
  /** Called when a consistent read has shown an older version than the one that the watch continued from. */
  readonly onRollback?: () => void;
}

/**
 * Milliseconds without events after which a stream counts as dead. `following`: its initial state is complete. `trips`:
 * number of consecutive streams before this one that the guard ended without an event since.
 */
export type QuietLimit = (stream: { readonly following: boolean; readonly trips: number }) => number;

/** The steps that open a stream. */
type StreamStep = Exclude<Step, { readonly kind: 'list' }>;

interface OpenedWatch<T extends object> {
  readonly step: StreamStep;
  readonly timeoutSeconds: number;
  readonly guard: WatchGuard;
  readonly handler: WatchHandler<T>;
}

/**
 * Lists once, then watches, without limit (client-go `Reflector`): runs one step, gets the next one from
 * {@link decideNextStep}, and waits if the plan requires it. Only the signal ends it; no failure of a server, a network
 * or a listener does.
 */
export class Reflector<T extends object> {
  readonly #options: ReflectorOptions<T>;
  readonly #contact: ApiContact;
  readonly #delay: RetryDelay;
  readonly #labels: { readonly resource: string };
  readonly record: StreamRecord;
  #guard: WatchGuard | undefined;
  #silentTrips = 0;
  #failures = { version: '', count: 0 };
  /** Set until the next complete state, or until the server was too busy for it. */
  #request: RelistRequest | undefined;
  /** A restore was noticed after the list under way was sent: it may be of the storage before. */
  #mayPrecedeRestore = false;
  /** The server was too busy for a list: the watch is tried before the next one that a caller asks for, where it was not just tried. */
  #triesWatchFirst = false;
  #listRefusedAtMs = -Infinity;
  #watchSentAtMs = -Infinity;
  #stepStartedAtMs = 0;
  /** From the beginning of the step to the first object of its initial state. */
  #firstObjectMs = 0;
  #missedDeletionAtMs = -Infinity;
  /** When a deletion may have been skipped that no complete state has shown since; undefined: none. */
  #maybeMissedAtMs: number | undefined;
  #step: Step = { kind: 'watch-list', resourceVersion: '' };
  /** The step continues from a version that no list has just shown. */
  #resumes = false;
  /** Since when a stream has delivered from a version that was not compared with that of the storage. */
  #unverifiedSinceMs: number | undefined;
  /** The version from which the step continues was compared in time, or is that of a complete state. */
  #isVerified = true;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#contact = options.contact ?? new ApiContact(options.clock);
    this.#delay = new RetryDelay(options.clock, options.random, this.#contact);
    this.#labels = { resource: options.resource };
    this.record = new StreamRecord(options.clock);
  }

  /**
   * A deletion may have been skipped, so a list follows; rate-limited, since the same object may be unreadable again. To be called
   * until it has: one that the limit put off follows with a later event or bookmark.
   */
  #suspectMissedDeletion(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (isConsistent(this.#step) || nowMs - this.#missedDeletionAtMs < missedDeletionRelistMs) return;
    this.#missedDeletionAtMs = nowMs;
    this.#startOver('undecodable');
  }

  /** Resolves when the signal has aborted and all its work has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const outcome = await this.#runStep(signal);
      if (signal.aborted) break;
      await this.#proceed(this.#decide(outcome.end), outcome, signal);
    }
    this.record.enter('stopped');
  }

  /** See {@link Informer.reopen}. */
  reopen(openedByMs = Infinity): void {
    if (this.record.stateSinceMs <= openedByMs) this.#guard?.trip();
  }

  /** Ends the watch and reads a complete state without a resourceVersion; see {@link Informer.relist}. */
  relist(request: RelistRequest): boolean {
    if (this.#listedRecently() || (request === 'requested' && this.#triesWatchFirst)) return false;
    this.#startOver(request);
    return true;
  }

  #startOver(request: RelistRequest): void {
    const isListing = isConsistent(this.#step);
    if (request === 'rolled-back') this.record.restored();
    if (isListing && request === 'requested') return;
    // A list after a restore is not dropped, and one for any other reason may be.
    if (this.#request === undefined || request === 'rolled-back') this.#request = request;
    if (!isListing) this.#guard?.trip();
    else if (request === 'rolled-back' && this.record.state === 'listing') this.#mayPrecedeRestore = true;
  }

  /** See {@link Informer.noticeServerVersion}. */
  noticeServerVersion(serverVersion: string, reachedBefore: string): boolean {
    return isOlder(serverVersion, reachedBefore) && this.relist('rolled-back');
  }

  /** See {@link Informer.noticeRollback}. */
  noticeRollback(): void {
    this.#startOver('rolled-back');
  }

  /** See {@link SharedInformer.noticeStorageVersion}. */
  noticeStorageVersion({ version, sentAtMs }: ShownVersion): void {
    const isOpen = this.#guard !== undefined;
    if (isOpen || sentAtMs <= this.record.reachedAtMs || !isOlder(version, this.record.resourceVersion)) return;
    // The own list that was sent later is of the restored storage.
    if (isConsistent(this.#step) && sentAtMs <= this.#stepStartedAtMs) this.#request = 'rolled-back';
    else this.#startOver('rolled-back');
  }

  #decide(end: StepEnd): Plan {
    const reached = this.record.resourceVersion;
    if (this.#failures.version !== reached) this.#failures = { version: reached, count: 0 };
    if (countsAgainstVersion(end)) this.#failures.count += 1;
    this.#resumes = end.kind !== 'listed';
    const plan = decideNextStep(this.#step, end, {
      reached,
      listedRecently: this.#listedRecently(),
      failuresAtVersion: this.#failures.count,
      request: this.#request,
    });
    if (plan.step.kind === 'watch') this.#dropRequest();
    return plan;
  }

  #dropRequest(): void {
    if (this.#request === undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#request = undefined;
    this.#triesWatchFirst = nowMs - this.#watchSentAtMs >= watchEveryMs;
    this.#listRefusedAtMs = nowMs;
  }

  #listedRecently(): boolean {
    return this.record.listAgeMs() < recentListMs;
  }

  async #runStep(signal: AbortSignal): Promise<StepOutcome> {
    this.record.enter(this.#step.kind === 'watch' ? 'opening' : 'listing');
    this.#stepStartedAtMs = this.#options.clock.monotonicMs();
    if (this.#step.kind === 'watch') this.#watchSentAtMs = this.#stepStartedAtMs;
    this.#mayPrecedeRestore = false;
    this.#triesWatchFirst = false;
    return this.#step.kind === 'list' ? this.#list(this.#step.attempt, signal) : this.#watch(this.#step, signal);
  }

  async #proceed(plan: Plan, outcome: StepOutcome, signal: AbortSignal): Promise<void> {
    this.#step = plan.step;
    if (plan.relist !== undefined) this.#count(plan.relist);
    if (!plan.pause) return this.#reportOutcome(outcome, 0);
    this.record.failed(outcome.message ?? describeEnd(outcome.end));
    const unansweredAtMs = isUnanswered(outcome.end) ? this.#stepStartedAtMs : undefined;
    const delayMs = this.#delay.nextMs(outcome.retryAfterMs, this.#delayMsMax(), unansweredAtMs);
    this.#reportOutcome(outcome, delayMs);
    this.record.enter('backing-off');
    await this.#delay.wait(delayMs, outcome.retryAfterMs, signal);
    this.#applyRequest();
  }

  /** An API server that is slow to fail is not asked again before the time that the attempt took. */
  #delayMsMax(): number {
    return this.record.synced ? retryMsMax : Math.max(unsyncedRetryMsMax, this.#stepAgeMs());
  }

  #frameReceived(): void {
    this.record.frameReceived();
    this.#contact.answered();
  }

  /** Handles a request that came during the delay, when no stream was open. */
  #applyRequest(): void {
    if (this.#request === undefined || isConsistent(this.#step)) return;
    this.#step = { kind: 'list', attempt: 'pages' };
    this.#count(this.#request);
  }

  #count(cause: string): void {
    this.#options.meter.add(reflectorRelists, 1, { ...this.#labels, cause });
  }

  #reportOutcome(outcome: StepOutcome, delayMs: number): void {
    const { end } = outcome;
    if (end.kind === 'listed') return;
    const { meter, logger } = this.#options;
    const routine = end.kind === 'ended' && end.by === 'server' && !end.brief;
    if (!routine) meter.add(reflectorWatchErrors, 1, { ...this.#labels, reason: describeEnd(end) });
    const failures = this.record.consecutiveFailures;
    const fields = { ...this.#labels, end: describeEnd(end), detail: outcome.message, next: this.#step.kind, failures };
    if (routine) logger.debug(fields, 'watch ended, reopening');
    else logger.warn({ ...fields, delayMs: Math.round(delayMs), err: outcome.cause }, 'watch interrupted');
  }

  async #list(attempt: ListAttempt, signal: AbortSignal): Promise<StepOutcome> {
    const { api, resource, selection, reader, stored } = this.#options;
    const objects = new ObjectMap<T>();
    let pagesRead = 0;
    try {
      const resourceVersion = await readPages({
        api,
        resource,
        selection,
        signal,
        paged: attempt !== 'whole',
        take: (item) => keepInState(objects, reader.read(item), stored),
        skip: (item) => keepInState(objects, reader.skip(item), stored),
        onPage: () => {
          pagesRead += 1;
          this.#frameReceived();
        },
      });
      this.#replace({ objects, resourceVersion }, this.#mostRecentAtMs());
      return { end: { kind: 'listed' } };
    } catch (error) {
      return requestFailure(error, pagesRead > 0);
    }
  }

  /** The state that this step reads is the most recent of this time; undefined if it may be older. */
  #mostRecentAtMs(): number | undefined {
    return isConsistent(this.#step) ? this.#stepStartedAtMs : undefined;
  }

  #replace({ objects, resourceVersion: version }: CompleteState<T>, sentAtMs: number | undefined): void {
    const { meter, replace } = this.#options;
    // A list at an older version than before is of the restored storage.
    const isRestored = isOlder(version, this.record.resourceVersion);
    meter.add(reflectorLists, 1, this.#labels);
    meter.observe(reflectorListDuration, this.#stepAgeMs() / 1_000, this.#labels);
    meter.observe(reflectorListItems, objects.size, this.#labels);
    const isSameHistory = !isRestored && this.#isOneHistory();
    if (!isSameHistory) this.record.restored();
    replace(objects, isSameHistory);
    this.record.listed(version, sentAtMs);
    this.#failures = { version, count: 0 };
    const isAsRequested = sentAtMs !== undefined && (isRestored || !this.#mayPrecedeRestore);
    if (isAsRequested) this.#request = undefined;
    // What was skipped within the initial state itself is still missing.
    if ((this.#maybeMissedAtMs ?? Infinity) < this.#stepStartedAtMs) this.#maybeMissedAtMs = undefined;
    this.#verified();
    this.#showVersion();
    if (sentAtMs !== undefined) this.#options.onVersion?.({ version, sentAtMs });
  }

  /** No restore was noticed, and the version of the last stream was compared. */
  #isOneHistory(): boolean {
    return this.#request !== 'rolled-back' && this.#isVerified && this.#unverifiedSinceMs === undefined;
  }

  #stepAgeMs(): number {
    return this.#options.clock.monotonicMs() - this.#stepStartedAtMs;
  }

  /** resourceVersions of the API server are numbers; the API does not guarantee it. */
  #showVersion(): void {
    const version = Number(this.record.resourceVersion || Number.NaN);
    if (Number.isFinite(version)) this.#options.meter.set(reflectorLastVersion, version, this.#labels);
  }

  async #watch(step: StreamStep, signal: AbortSignal): Promise<StepOutcome> {
    const { clock, quietMsMax, random, reader, stored } = this.#options;
    const timeoutSeconds = watchSecondsMin + Math.floor(random.next() * (watchSecondsMax - watchSecondsMin));
    const ageMsMax = timeoutSeconds * 1_000 + watchOverrunMsMax;
    const initial = step.kind === 'watch-list';
    const handler = new WatchHandler({ reader, stored, reached: step.resourceVersion, initial });
    const limits = (): InitialLimits => planInitialLimits(handler.initialCount);
    const silenceMsMax = (): number => quietMsMax({ following: handler.following, trips: this.#silentTrips });
    const guard = new WatchGuard({
      clock,
      signal,
      quietMsMax: () => Math.min(silenceMsMax(), limits().quietMsMax),
      ageMsMax: () => Math.min(ageMsMax, this.#firstObjectMs + limits().ageMsMax),
    });
    this.#guard = guard;
    this.#isVerified = step.kind !== 'watch' || !this.#resumes;
    const checked = this.#isVerified ? undefined : this.#checkVersion(step, guard);
    try {
      return await this.#follow({ step, timeoutSeconds, guard, handler });
    } finally {
      if (guard.tripped) this.#silentTrips += 1;
      this.#options.meter.observe(reflectorWatchDuration, this.#stepAgeMs() / 1_000, this.#labels);
      this.#guard = undefined;
      await guard.close();
      await checked;
    }
  }

  /**
   * A storage that was restored from a backup accepts a watch from a version that it has not reached. What changed until
   * then is never delivered, and nothing shows it once the storage has passed that version: it is compared at once, and if
   * that fails until the stream ends, the next one began from a version that proves nothing either.
   */
  async #checkVersion({ resourceVersion }: StreamStep, { signal }: WatchGuard): Promise<void> {
    const [unknownSinceMs, listRefusedAtMs] = [this.#unverifiedSinceMs, this.#listRefusedAtMs];
    const read = await readStorageVersion({ ...this.#options, unknownSinceMs, listRefusedAtMs }, signal);
    if (read === undefined) return;
    if (read === 'unknown') return this.#listUnverified(signal);
    const { version, isLate } = read;
    this.#options.onVersion?.(read);
    if (isOlder(version, resourceVersion)) {
      this.noticeRollback();
      this.#options.onRollback?.();
    } else if (isLate) await this.#listUnverified(signal);
    else this.#verified();
  }

  /** A server may answer this read and reject each list: then the watch would be closed again and again. */
  async #listUnverified(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#noteUnverified(this.#stepStartedAtMs);
    const leftMs = this.#listRefusedAtMs + listRefusedMs - clock.monotonicMs();
    if (leftMs > 0) await clock.sleep(leftMs, signal);
    if (!signal.aborted) this.#startOver('unverified');
  }

  #verified(): void {
    this.#isVerified = true;
    this.#unverifiedSinceMs = undefined;
  }

  async #follow({ step, timeoutSeconds, guard, handler }: OpenedWatch<T>): Promise<StepOutcome> {
    let opened = false;
    let by: 'server' | 'lost' | 'guard' = 'server';
    try {
      const stream = await this.#open(step, timeoutSeconds, guard.signal);
      opened = true;
      const error = await this.#drain(stream, handler, guard);
      if (error !== undefined) return errorOutcome(error);
    } catch (error) {
      const failure = this.#failureOf(error, opened, guard.tripped);
      if (failure !== undefined) return failure;
      by = guard.tripped ? 'guard' : 'lost';
    }
    const brief = this.#stepAgeMs() < shortWatchMsMax && handler.reached === step.resourceVersion;
    if (brief) this.#options.meter.add(reflectorShortWatches, 1, this.#labels);
    const incomplete = handler.following ? {} : { message: 'initial state not complete in time' };
    return { end: { kind: 'ended', by, brief }, ...(by === 'guard' ? incomplete : {}) };
  }

  #failureOf(error: unknown, opened: boolean, tripped: boolean): StepOutcome | undefined {
    if (!opened && isSent(error)) this.#noteUnverified(this.#stepStartedAtMs);
    return streamFailure(error, opened, tripped);
  }

  async #open(step: StreamStep, timeoutSeconds: number, signal: AbortSignal): Promise<WatchStream> {
    const { api, meter, resource } = this.#options;
    meter.add(reflectorWatches, 1, this.#labels);
    const stream = await api.watch(resource, { ...this.#watchOptions(step), timeoutSeconds, signal });
    this.#contact.answered();
    this.record.enter(step.kind === 'watch' ? 'watching' : 'listing');
    this.#noteUnverified(this.#options.clock.monotonicMs());
    return stream;
  }

  /** The server was there at this time, or may have been, and its version is not known. */
  #noteUnverified(atMs: number): void {
    if (!this.#isVerified) this.#unverifiedSinceMs ??= atMs;
  }

  #watchOptions(step: StreamStep): WatchOptions {
    const from = step.resourceVersion === '' ? {} : { resourceVersion: step.resourceVersion };
    const follow = { ...this.#options.selection, ...from, allowWatchBookmarks: true };
    if (step.kind === 'watch') return follow;
    return { ...follow, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
  }

  async #drain(stream: WatchStream, handler: WatchHandler<T>, guard: WatchGuard): Promise<ErrorEvent | undefined> {
    for await (const batch of stream) {
      if (batch.some(isReadable)) {
        this.#frameReceived();
        this.#silentTrips = 0;
      }
      const error = this.#takeBatch(batch, handler, guard);
      if (error !== undefined) return error;
    }
    return undefined;
  }

  /** The streaming list is complete. */
  #becomeWatch(state: CompleteState<T>, guard: WatchGuard): void {
    const sentAtMs = this.#mostRecentAtMs();
    this.#step = { kind: 'watch', resourceVersion: state.resourceVersion };
    this.#replace(state, sentAtMs);
    if (this.#request !== undefined) guard.trip();
  }

  #takeBatch(batch: readonly WatchEvent[], handler: WatchHandler<T>, guard: WatchGuard): ErrorEvent | undefined {
    const { initialCount } = handler;
    const { replaced, deltas, error, mayMissDeletion } = handler.take(batch);
    // While the initial state is pending only its own objects count as progress: the server may never send its end.
    if (initialCount === 0) this.#firstObjectMs = this.#stepAgeMs();
    const isProgress =
      initialCount === undefined ? batch.some(isReadable) : (handler.initialCount ?? Infinity) > initialCount;
    if (isProgress) guard.frameReceived();
    if (replaced !== undefined) this.#becomeWatch(replaced, guard);
    if (mayMissDeletion) this.#maybeMissedAtMs = this.#options.clock.monotonicMs();
    if (this.#maybeMissedAtMs !== undefined) this.#suspectMissedDeletion();
    if (!handler.following) return error;
    this.record.reached(handler.reached);
    this.#showVersion();
    this.#options.apply(deltas);
    return error;
  }
}

/** A stream that contains only undecodable objects counts as silent. */
function isReadable({ type }: WatchEvent): boolean {
  return type !== 'UNDECODABLE';
}
