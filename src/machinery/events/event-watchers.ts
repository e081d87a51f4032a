import type { EventDraft } from '../api/event.ts';
import type { Logger } from '../ports/logger.ts';
import type { EventSource } from './build-event.ts';

/** Maximum number of events queued for one watcher (client-go `watch.NewBroadcaster` queue length); the rest is dropped. */
export const watcherQueueMax = 1_000;

export interface RecordedEvent {
  readonly draft: EventDraft;
  readonly source: EventSource;
}

/** Receives one event at a time: the next one follows when the returned promise, if any, has settled. */
export type EventHandler = (recorded: RecordedEvent) => void | Promise<void>;

/**
 * The in-process watchers of recorded events. Each watcher has a queue of its own, so that a slow one delays no other and
 * loses only its own events (`DropIfChannelFull`); order is kept. A handler that throws is logged and stays subscribed.
 */
export class EventWatchers {
  readonly #logger: Logger;
  readonly #watchers = new Set<Watcher>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Calls the handler for each event recorded from now on. Returns the unsubscribe function; queued events are then discarded. */
  add(handler: EventHandler, queueMax: number = watcherQueueMax): () => void {
    const watcher = new Watcher(handler, queueMax, this.#logger);
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      watcher.stop();
    };
  }

  /** Never throws, never blocks. */
  publish(recorded: RecordedEvent): void {
    for (const watcher of this.#watchers) watcher.enqueue(recorded);
  }
}

class Watcher {
  readonly #handler: EventHandler;
  readonly #queueMax: number;
  readonly #logger: Logger;
  #queue: RecordedEvent[] = [];
  #busy = false;

  constructor(handler: EventHandler, queueMax: number, logger: Logger) {
    this.#handler = handler;
    this.#queueMax = queueMax;
    this.#logger = logger;
  }

  enqueue(recorded: RecordedEvent): void {
    if (this.#queue.length >= this.#queueMax) return;
    this.#queue.push(recorded);
    if (!this.#busy) void this.#drain();
  }

  stop(): void {
    this.#queue = [];
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    // Handlers do not run in the stack of the recorder.
    await Promise.resolve();
    for (let recorded = this.#queue.shift(); recorded !== undefined; recorded = this.#queue.shift())
      await this.#handle(recorded);
    this.#busy = false;
  }

  async #handle(recorded: RecordedEvent): Promise<void> {
    try {
      await this.#handler(recorded);
    } catch (error) {
      this.#logger.warn({ error: String(error), reason: recorded.draft.reason }, 'event watcher failed');
    }
  }
}
