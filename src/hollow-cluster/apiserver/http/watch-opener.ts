/** Opens watches: finds the start, sends headers at once, and hands over to the stream. */
import type { OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '../../../machinery/api/api-error.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import type { ObjectLister } from '../registry/object-lister.ts';
import { watchTooOld } from '../api-errors/api-errors.ts';
import type { WatchPlan } from '../registry/list-query.ts';
import type { Selection } from '../registry/selection.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { eventTypeOf } from '../registry/watched-change.ts';
import { EncodeFailure, EncodeFailureLog, EventEncoder } from './event-encoder.ts';
import { begin, type Exchange, finish } from './exchange.ts';
import type { Presenter } from './presenter.ts';
import type { StallGate } from './stall-gate.ts';
import { WatchStream } from './watch-stream.ts';
import type { WatchTicker } from './watch-ticker.ts';

/** Upstream `--min-request-timeout`: a watch without timeoutSeconds lasts between this and twice as long. */
const timeoutMsMin = 1_800_000;

interface WatchOpenerOptions {
  readonly store: VersionedStore;
  readonly lister: ObjectLister;
  readonly ticker: WatchTicker;
  readonly stall: StallGate;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface WatchRequest {
  readonly exchange: Exchange;
  /** Name of the table in the store. */
  readonly resource: string;
  readonly plan: WatchPlan;
  readonly selection: Selection;
  readonly presenter: Presenter;
  readonly headers: OutgoingHttpHeaders;
}

export class WatchOpener {
  readonly #options: WatchOpenerOptions;
  readonly #encoder = new EventEncoder();
  readonly #failures: EncodeFailureLog;

  constructor(options: WatchOpenerOptions) {
    this.#options = options;
    this.#failures = new EncodeFailureLog(options.logger);
  }

  /** Resolves when the watch has ended. Errors after this point are sent as ERROR events: the response has started. */
  async serve(request: WatchRequest): Promise<void> {
    const { exchange, plan, headers, presenter } = request;
    const { outgoing, signal } = exchange;
    begin(outgoing, 200, { ...headers, 'content-type': presenter.watchType });
    try {
      if (plan.stateFirst) await this.#options.lister.reach(plan.revision, signal);
      const initial = plan.stateFirst ? this.#state(request) : this.#changesSince(request);
      await this.#stream(request, initial);
    } catch (error) {
      if (error instanceof ApiError) return finish(outgoing, presenter.error(error.status));
      if (!(error instanceof EncodeFailure)) throw error;
      this.#failures.add(request.resource, error);
      finish(outgoing);
    }
  }

  async #stream(request: WatchRequest, initial: Iterable<Buffer>): Promise<void> {
    const { store, ticker, stall, clock } = this.#options;
    const { exchange, plan, selection, presenter, resource } = request;
    const stream = new WatchStream({
      exchange,
      presenter,
      encoder: this.#encoder,
      selection,
      stall,
      clock,
      after: Math.max(plan.revision, store.revision),
      bookmarks: plan.bookmarks,
      onEncodeFailure: (failure) => this.#failures.add(resource, failure),
      deadlineMs: clock.monotonicMs() + this.#timeoutMs(plan),
    });
    const unsubscribe = store.table(resource).hub.add(stream);
    ticker.add(stream);
    try {
      await stream.run(initial);
    } finally {
      ticker.remove(stream);
      unsubscribe();
    }
  }

  #timeoutMs(plan: WatchPlan): number {
    if (plan.timeoutSeconds !== undefined) return plan.timeoutSeconds * 1_000;
    return timeoutMsMin * (1 + this.#options.random.next());
  }

  /** The current state as ADDED events; lazily encoded, from a snapshot that later writes do not change. */
  #state({ resource, selection, presenter, plan }: WatchRequest): Iterable<Buffer> {
    const { store } = this.#options;
    const { revision } = store;
    const objects = store.table(resource).now().list(selection.namespace);
    return (function* lines(): Generator<Buffer> {
      let first = true;
      for (const object of objects) {
        if (!selection.matches(object)) continue;
        yield encodeAdded(presenter, object, first);
        first = false;
      }
      if (plan.announcesEnd) yield presenter.bookmark(revision, true, first);
    })();
  }

  /** Changes since the client's version. Throws a 410 ApiError if that version is too old. */
  #changesSince({ resource, selection, presenter, plan }: WatchRequest): Iterable<Buffer> {
    const { window } = this.#options.store.table(resource);
    const since = plan.revision === 0 ? this.#options.store.revision : plan.revision;
    const changes = window.since(since);
    if (changes === undefined) throw watchTooOld(plan.revision, window.floor);
    const encoder = this.#encoder;
    return (function* lines(): Generator<Buffer> {
      let first = true;
      for (const change of changes) {
        const type = eventTypeOf(change, selection);
        if (type === undefined) continue;
        yield encoder.encode(change, type, presenter, first);
        first = false;
      }
    })();
  }
}

function encodeAdded(presenter: Presenter, object: StoredObject, first: boolean): Buffer {
  try {
    return presenter.event('ADDED', object, first);
  } catch (error) {
    throw new EncodeFailure(object, error);
  }
}
