import type { Ambient } from '../ports/ambient.ts';
import type { Change, Listener } from './informer.ts';
import { listenerErrors, listenerSeconds } from './metrics.ts';

/** Changes delivered to one listener before the next listener receives its share. */
export const deliveryBatchMax = 1_024;

interface Subscription<T> {
  readonly listener: Listener<T>;
  readonly record: ListenerRecord;
  removed: boolean;
}

/**
 * The listeners of one informer. Each receives all changes in order, and no other code runs between the update of the
 * store and its listeners. A listener that throws misses only that change; the others miss none.
 */
export class Listeners<T> {
  readonly #options: ListenerRecordOptions;
  /** Replaced on each subscription and removal, so that an iteration keeps its own snapshot. */
  #subscriptions: readonly Subscription<T>[] = [];

  constructor(options: ListenerRecordOptions) {
    this.#options = options;
  }

  /** Delivers the current state to the new listener, then adds it. Returns the unsubscribe function. */
  add(name: string, listener: Listener<T>, initial: Iterable<Change<T>>): () => void {
    const subscription = { listener, record: new ListenerRecord(name, this.#options), removed: false };
    for (const changes of inBatches(initial)) this.#deliverBatch(subscription, changes);
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      subscription.removed = true;
      this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
    };
  }

  /**
   * Delivers each change to every listener, in order. A listener added in the meantime has already received the state that
   * these changes led to and is left out; one removed in the meantime receives no more.
   */
  deliver(changes: Iterable<Change<T>>): void {
    const subscriptions = this.#subscriptions;
    if (subscriptions.length === 0) return;
    for (const batch of inBatches(changes)) {
      for (const subscription of subscriptions) this.#deliverBatch(subscription, batch);
    }
  }

  #deliverBatch(subscription: Subscription<T>, changes: readonly Change<T>[]): void {
    const { clock } = this.#options;
    const sinceMs = clock.monotonicMs();
    for (const change of changes) {
      if (subscription.removed) break;
      try {
        subscription.listener(change);
      } catch (error) {
        subscription.record.countError(error, change.key);
      }
    }
    subscription.record.observeDuration(clock.monotonicMs() - sinceMs, changes.length);
  }
}

/** An array stays one part; a generator, which may yield a million changes, is split. */
function* inBatches<C>(changes: Iterable<C>): Generator<readonly C[]> {
  if (Array.isArray(changes)) return yield changes;
  let batch: C[] = [];
  for (const change of changes) {
    batch.push(change);
    if (batch.length < deliveryBatchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A call that takes longer delays the event loop, the lease renewal included, and is logged. */
export const slowListenerMs = 250;
/** Minimum interval between two log lines about errors of one listener: it may throw at each of a million changes. */
export const errorLogEveryMs = 10_000;

interface ListenerRecordOptions extends Ambient {
  readonly resource: string;
}

/** Cost of one listener: the time it takes, and its errors. */
class ListenerRecord {
  readonly #options: ListenerRecordOptions;
  readonly #labels: { readonly resource: string; readonly listener: string };
  #errorLoggedAtMs = -Infinity;
  #unreported = 0;

  constructor(listener: string, options: ListenerRecordOptions) {
    this.#options = options;
    this.#labels = { resource: options.resource, listener };
  }

  observeDuration(ms: number, changes: number): void {
    const { logger, meter } = this.#options;
    meter.add(listenerSeconds, ms / 1_000, this.#labels);
    if (ms < slowListenerMs) return;
    logger.warn({ ...this.#labels, changes, tookMs: Math.round(ms) }, 'slow informer event handler');
  }

  countError(error: unknown, key: string): void {
    const { clock, logger, meter } = this.#options;
    meter.add(listenerErrors, 1, this.#labels);
    this.#unreported += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#errorLoggedAtMs < errorLogEveryMs) return;
    logger.error({ ...this.#labels, key, errors: this.#unreported, err: error }, 'informer event handler failed');
    this.#errorLoggedAtMs = nowMs;
    this.#unreported = 0;
  }
}
