import type { EventDraft } from '../api/event.ts';
import type { Logger } from '../ports/logger.ts';
import type { EventSource } from './derive-event.ts';

/** Events that wait for one watcher (client-go `watch.NewBroadcaster` queue length); what does not fit it misses. */
export const watcherQueueMax = 1_000;

export interface ToldEvent {
  readonly draft: EventDraft;
  readonly source: EventSource;
}

/** Hears of one event at a time: the next comes when the promise, if there is one, has settled. */
export type EventHandler = (told: ToldEvent) => void | Promise<void>;

/**
 * Everybody beside the API server who hears what is recorded. Each has a queue of its own, so that who is slow keeps nobody
 * waiting and misses events alone (`DropIfChannelFull`); order is kept. A handler that throws is logged and goes on.
 */
export class EventWatchers {
  readonly #logger: Logger;
  readonly #watchers = new Set<Watcher>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The handler hears of what is told from now on. Returns the way to leave; what waits then is not handled any more. */
  add(handler: EventHandler, queueMax: number = watcherQueueMax): () => void {
    const watcher = new Watcher(handler, queueMax, this.#logger);
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      watcher.leave();
    };
  }

  /** Never throws, never waits. */
  tell(told: ToldEvent): void {
    for (const watcher of this.#watchers) watcher.offer(told);
  }
}

class Watcher {
  readonly #handler: EventHandler;
  readonly #queueMax: number;
  readonly #logger: Logger;
  #queue: ToldEvent[] = [];
  #busy = false;

  constructor(handler: EventHandler, queueMax: number, logger: Logger) {
    this.#handler = handler;
    this.#queueMax = queueMax;
    this.#logger = logger;
  }

  offer(told: ToldEvent): void {
    if (this.#queue.length >= this.#queueMax) return;
    this.#queue.push(told);
    if (!this.#busy) void this.#drain();
  }

  leave(): void {
    this.#queue = [];
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    // Whoever records does not run other people's code.
    await Promise.resolve();
    for (let told = this.#queue.shift(); told !== undefined; told = this.#queue.shift()) await this.#handle(told);
    this.#busy = false;
  }

  async #handle(told: ToldEvent): Promise<void> {
    try {
      await this.#handler(told);
    } catch (error) {
      this.#logger.warn({ error: String(error), reason: told.draft.reason }, 'a watcher of events failed');
    }
  }
}
