import { ApiError, type ApiReason } from '../api/api-error.ts';
import type { KubeObject } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubeReader, Selection, WatchEvent, WatchOptions, WatchStream } from '../ports/kube-reader.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { decideNextStep, type ListAttempt, type Plan, type Step, type StepEnd } from './decide-next-step.ts';
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
import { PageReader } from './page-reader.ts';
import { RetryDelay } from './retry-delay.ts';
import { StreamRecord } from './stream-record.ts';
import { type ErrorEvent, type Placed, type StateSink, WatchReading } from './watch-reading.ts';
import { WatchGuard } from './watch-guard.ts';

export const watchSecondsMin = 300;
export const watchSecondsMax = 600;
/** What the server gets beyond the time it was asked to end the stream after. */
export const watchOverrunMsMax = 15_000;
/** Bookmarks are asked for and come once a minute. */
export const quietMsMaxDefault = 90_000;
/** A watch that ends sooner and brought nothing is a failure (client-go `VeryShortWatchError`). */
export const briefMsMax = 1_000;
/** Two complete states within this time are enough; a third one waits. */
export const listedLatelyMs = 10_000;

export interface BatchSink<T> extends StateSink<T> {
  /** The batch has been taken in, as far as it could be; called before anybody else runs. */
  tell(): void;
}

export interface ListWatchOptions<T> {
  readonly resource: ResourceName;
  readonly selection: Selection;
  /** Undefined for what has no name and cannot be kept. */
  readonly read: (raw: KubeObject) => Placed<T> | undefined;
  readonly sink: BatchSink<T>;
  readonly api: KubeReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly quietMsMax: QuietLimit;
}

/**
 * Silence after which a stream counts as dead, in milliseconds. `following`: its initial state is complete. `trips`: how
 * many streams before this one were ended for their silence, with nothing heard since.
 */
export type QuietLimit = (stream: { readonly following: boolean; readonly trips: number }) => number;

/** How a step ended, and what only the log and the delay want to know about it. */
interface Outcome {
  readonly end: StepEnd;
  readonly message?: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The steps that open a stream. */
type StreamStep = Exclude<Step, { readonly kind: 'list' }>;

/**
 * Lists once, then follows changes, for ever: carries out one step, asks {@link decideNextStep} for the next, waits if
 * it says so. Nothing that a server, a network or a listener does ends it; only the signal does.
 */
export class ListWatch<T> {
  readonly #options: ListWatchOptions<T>;
  readonly #delay: RetryDelay;
  readonly #labels: { readonly resource: string };
  readonly record: StreamRecord;
  #guard: WatchGuard | undefined;
  #silentTrips = 0;
  #stepBegunAtMs = 0;
  #step: Step = { kind: 'watch-list', resourceVersion: '' };

  constructor(options: ListWatchOptions<T>) {
    this.#options = options;
    this.#delay = new RetryDelay(options.clock, options.random);
    this.#labels = { resource: options.resource };
    this.record = new StreamRecord(options.clock);
  }

  /** Resolves once the signal has aborted and nothing runs any more. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const outcome = await this.#carryOut(signal);
      if (signal.aborted) break;
      const progress = { reached: this.record.resourceVersion, listedLately: this.#listedLately() };
      const plan = decideNextStep(this.#step, outcome.end, progress);
      await this.#proceed(plan, outcome, signal);
    }
    this.record.state = 'stopped';
  }

  /** Opens the stream anew from where it was, if one is open. */
  reopen(): void {
    this.#guard?.trip();
  }

  #listedLately(): boolean {
    return this.record.listAgeMs() < listedLatelyMs;
  }

  async #carryOut(signal: AbortSignal): Promise<Outcome> {
    this.record.state = this.#step.kind === 'watch' ? 'watching' : 'listing';
    this.#stepBegunAtMs = this.#options.clock.monotonicMs();
    return this.#step.kind === 'list' ? this.#list(this.#step.attempt, signal) : this.#watch(this.#step, signal);
  }

  async #proceed(plan: Plan, outcome: Outcome, signal: AbortSignal): Promise<void> {
    this.#step = plan.step;
    if (plan.relist !== undefined) this.#count(plan.relist);
    if (!plan.pause) return this.#note(outcome, 0);
    this.record.failed(outcome.message ?? describeEnd(outcome.end));
    const delayMs = this.#delay.nextMs(outcome.retryAfterMs);
    this.#note(outcome, delayMs);
    this.record.state = 'backing-off';
    await this.#options.clock.sleep(delayMs, signal);
  }

  #count(cause: string): void {
    this.#options.meter.add(reflectorRelists, 1, { ...this.#labels, cause });
  }

  #note(outcome: Outcome, delayMs: number): void {
    const { end } = outcome;
    if (end.kind === 'listed') return;
    const { meter, logger } = this.#options;
    const routine = end.kind === 'ended' && end.by === 'server' && !end.brief;
    if (!routine) meter.add(reflectorWatchErrors, 1, { ...this.#labels, reason: describeEnd(end) });
    const failures = this.record.consecutiveFailures;
    const fields = { ...this.#labels, end: describeEnd(end), detail: outcome.message, next: this.#step.kind, failures };
    if (routine) logger.debug(fields, 'the watch ended and is opened again');
    else logger.warn({ ...fields, delayMs: Math.round(delayMs), err: outcome.cause }, 'the watch was interrupted');
  }

  async #list(attempt: ListAttempt, signal: AbortSignal): Promise<Outcome> {
    const { api, resource, selection, read } = this.#options;
    const pages = new PageReader({ api, resource, selection, signal });
    const objects = new ObjectMap<T>();
    try {
      const version = await pages.read({
        paged: attempt !== 'whole',
        take: (item) => keep(objects, read(item)),
        heard: () => this.record.heard(),
      });
      this.#replace(objects, version);
      return { end: { kind: 'listed' } };
    } catch (error) {
      return refusal(error, pages.pagesRead > 0);
    }
  }

  #replace(objects: ObjectMap<T>, version: string): void {
    const { meter, sink } = this.#options;
    meter.add(reflectorLists, 1, this.#labels);
    meter.observe(reflectorListDuration, this.#stepAgeMs() / 1_000, this.#labels);
    meter.observe(reflectorListItems, objects.size, this.#labels);
    sink.replace(objects, version);
    this.record.listed(version);
    this.#showVersion();
  }

  #stepAgeMs(): number {
    return this.#options.clock.monotonicMs() - this.#stepBegunAtMs;
  }

  /** Versions are numbers to the API server, though it does not promise so to anybody. */
  #showVersion(): void {
    const version = Number(this.record.resourceVersion || Number.NaN);
    if (Number.isFinite(version)) this.#options.meter.set(reflectorLastVersion, version, this.#labels);
  }

  async #watch(step: StreamStep, signal: AbortSignal): Promise<Outcome> {
    const { clock, quietMsMax, random } = this.#options;
    const timeoutSeconds = watchSecondsMin + Math.floor(random.next() * (watchSecondsMax - watchSecondsMin));
    const ageMsMax = timeoutSeconds * 1_000 + watchOverrunMsMax;
    const limit = (): number => quietMsMax({ following: this.#step.kind === 'watch', trips: this.#silentTrips });
    const guard = new WatchGuard({ clock, signal, quietMsMax: limit, ageMsMax });
    this.#guard = guard;
    try {
      return await this.#follow(step, timeoutSeconds, guard);
    } finally {
      if (guard.tripped) this.#silentTrips += 1;
      this.#options.meter.observe(reflectorWatchDuration, this.#stepAgeMs() / 1_000, this.#labels);
      this.#guard = undefined;
      await guard.close();
    }
  }

  async #follow(step: StreamStep, timeoutSeconds: number, guard: WatchGuard): Promise<Outcome> {
    const reading = this.#reading(step);
    let opened = false;
    let by: 'server' | 'lost' | 'guard' = 'server';
    try {
      const stream = await this.#open(step, timeoutSeconds, guard.signal);
      opened = true;
      const error = await this.#drain(stream, reading, guard);
      if (error !== undefined) return errorOutcome(error);
    } catch (error) {
      const failure = interruption(error, opened, guard.tripped);
      if (failure !== undefined) return failure;
      by = guard.tripped ? 'guard' : 'lost';
    }
    const brief = this.#stepAgeMs() < briefMsMax && reading.reached === step.resourceVersion;
    if (brief) this.#options.meter.add(reflectorShortWatches, 1, this.#labels);
    return { end: { kind: 'ended', by, brief } };
  }

  #reading(step: StreamStep): WatchReading<T> {
    const { read, sink } = this.#options;
    return new WatchReading({
      read,
      sink: {
        replace: (objects, version) => {
          this.#step = { kind: 'watch', resourceVersion: version };
          this.#replace(objects, version);
        },
        apply: (type, arrival, reached) => sink.apply(type, arrival, reached),
        isStale: (type, object, known, reached) => sink.isStale(type, object, known, reached),
      },
      reached: step.resourceVersion,
      initial: step.kind === 'watch-list',
    });
  }

  async #open(step: StreamStep, timeoutSeconds: number, signal: AbortSignal): Promise<WatchStream> {
    const { api, meter, resource } = this.#options;
    meter.add(reflectorWatches, 1, this.#labels);
    return api.watch(resource, { ...this.#watchOptions(step), timeoutSeconds, signal });
  }

  #watchOptions(step: StreamStep): WatchOptions {
    const from = step.resourceVersion === '' ? {} : { resourceVersion: step.resourceVersion };
    const follow = { ...this.#options.selection, ...from, allowWatchBookmarks: true };
    if (step.kind === 'watch') return follow;
    return { ...follow, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
  }

  async #drain(stream: WatchStream, reading: WatchReading<T>, guard: WatchGuard): Promise<ErrorEvent | undefined> {
    for await (const batch of stream) {
      this.record.heard();
      this.#silentTrips = 0;
      const error = this.#takeBatch(batch, reading, guard);
      if (error !== undefined) return error;
    }
    return undefined;
  }

  #takeBatch(batch: readonly WatchEvent[], reading: WatchReading<T>, guard: WatchGuard): ErrorEvent | undefined {
    try {
      // While the initial state is due, bookmarks alone do not count: the server may never mean to send it.
      if (reading.following || batch.some(({ type }) => type !== 'BOOKMARK')) guard.heard();
      for (const event of batch) {
        const error = reading.take(event);
        if (error !== undefined) return error;
      }
      return undefined;
    } finally {
      if (reading.following) {
        this.record.resourceVersion = reading.reached;
        this.#showVersion();
        this.#options.sink.tell();
      }
    }
  }
}

function keep<T>(objects: ObjectMap<T>, read: Placed<T> | undefined): void {
  if (read !== undefined) objects.set(read, read.object);
}

function errorOutcome({ reason, retryAfterMs, message }: ErrorEvent): Outcome {
  return { end: { kind: 'error-event', reason }, retryAfterMs, message };
}

function refusal(error: unknown, laterPage: boolean): Outcome {
  if (!(error instanceof ApiError)) return { end: { kind: 'undecodable' }, message: messageOf(error), cause: error };
  const { reason, retryAfterMs, message } = error;
  return { end: { kind: 'refused', reason, laterPage }, retryAfterMs, message };
}

const lostReasons: readonly ApiReason[] = ['unavailable', 'timeout', 'aborted'];

/** Undefined where a stream that was there broke off in a way that leaves our state good. */
function interruption(error: unknown, opened: boolean, tripped: boolean): Outcome | undefined {
  if (tripped) return undefined;
  if (!opened) return refusal(error, false);
  const lost = error instanceof ApiError && lostReasons.includes(error.reason);
  return lost ? undefined : { end: { kind: 'undecodable' }, message: messageOf(error), cause: error };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One word for a metric's label: bounded, since every part is. */
function describeEnd(end: StepEnd): string {
  switch (end.kind) {
    case 'listed':
    case 'undecodable':
      return end.kind;
    case 'ended':
      return end.by === 'server' ? 'brief' : end.by;
    case 'refused':
    case 'error-event':
      return end.reason;
  }
}
