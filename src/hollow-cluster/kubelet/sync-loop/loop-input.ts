import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Channel } from '../queues/channel.ts';
import { planNextTick } from '../loops/plan-phase.ts';

/** An input of the sync loop. */
export interface LoopInput {
  readonly name: string;
  /** Monotonic time at which an item is available: now or earlier, later, or undefined if unknown. */
  readyAtMs(): number | undefined;
  /** No more items will come. */
  readonly isDone: boolean;
  /**
   * Called when an item may be available earlier than reported; one listener. Returns the function that unsubscribes.
   */
  onReady(listener: () => void): () => void;
  /** Handles one item. Rejects only for unexpected errors. */
  serve(signal: AbortSignal): Promise<void>;
}

/** Items of a channel, one at a time. */
export class ChannelInput<T> implements LoopInput {
  readonly name: string;
  readonly #channel: Channel<T>;
  readonly #handle: (item: T, signal: AbortSignal) => Promise<void>;

  constructor(name: string, channel: Channel<T>, handle: (item: T, signal: AbortSignal) => Promise<void>) {
    this.name = name;
    this.#channel = channel;
    this.#handle = handle;
  }

  get isDone(): boolean {
    return this.#channel.isDone;
  }

  readyAtMs(): number | undefined {
    return this.#channel.length > 0 ? Number.NEGATIVE_INFINITY : undefined;
  }

  onReady(listener: () => void): () => void {
    return this.#channel.onReady(listener);
  }

  async serve(signal: AbortSignal): Promise<void> {
    const item = this.#channel.take();
    if (item !== undefined) await this.#handle(item, signal);
  }
}

interface TickInputOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly periodMs: number;
  /** Monotonic time from which a tick would have work; undefined: no work. */
  readonly dueAtMs: () => number | undefined;
  readonly handle: (signal: AbortSignal) => Promise<void>;
}

/**
 * Periodic ticks, only those that have work: the others are skipped without any difference. Of the ticks that pass
 * while the loop is busy one is kept, as by a Go ticker.
 */
export class TickInput implements LoopInput {
  readonly isDone = false;
  readonly #options: TickInputOptions;
  readonly #startedAtMs: number;
  #listener: (() => void) | undefined;
  #servedAtMs: number;

  constructor(options: TickInputOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.monotonicMs();
    this.#servedAtMs = this.#startedAtMs;
  }

  get name(): string {
    return this.#options.name;
  }

  readyAtMs(): number | undefined {
    const dueAtMs = this.#options.dueAtMs();
    if (dueAtMs === undefined) return undefined;
    return planNextTick(this.#startedAtMs, this.#options.periodMs, Math.max(dueAtMs, this.#servedAtMs));
  }

  onReady(listener: () => void): () => void {
    this.#listener = listener;
    return () => {
      this.#listener = undefined;
    };
  }

  /** Work is due earlier than before. */
  readonly noteDue = (): void => {
    this.#listener?.();
  };

  async serve(signal: AbortSignal): Promise<void> {
    this.#servedAtMs = this.#options.clock.monotonicMs();
    await this.#options.handle(signal);
  }
}
