import type { Clock } from '../../ports/clock.ts';
import type { Channel } from '../../queueing/channel.ts';
import { deriveNextTick } from '../derive-next-tick.ts';

/** Something that the sync loop waits for and deals with. */
export interface LoopInput {
  readonly name: string;
  /** When there will be something, monotonic: now or before, later, or undefined while nobody knows. */
  readyAtMs(): number | undefined;
  /** There will never be anything any more. */
  readonly isDone: boolean;
  /** Calls back when there may be something earlier than was said; one may listen. Returns the way to leave. */
  onReady(listener: () => void): () => void;
  /** Deals with one thing. Rejects only for what nobody foresaw. */
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

export interface TickInputOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly periodMs: number;
  /** From when on a tick would find something to do, monotonic; undefined: none would. */
  readonly dueAtMs: () => number | undefined;
  readonly handle: (signal: AbortSignal) => Promise<void>;
}

/**
 * The ticks of a period, as many as find something to do: the others might as well not be. Of the ticks that pass while
 * the loop is busy one is kept, as a Go ticker does.
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
    return deriveNextTick(this.#startedAtMs, this.#options.periodMs, Math.max(dueAtMs, this.#servedAtMs));
  }

  onReady(listener: () => void): () => void {
    this.#listener = listener;
    return () => {
      this.#listener = undefined;
    };
  }

  /** What is due has come nearer. */
  readonly noteDue = (): void => {
    this.#listener?.();
  };

  async serve(signal: AbortSignal): Promise<void> {
    this.#servedAtMs = this.#options.clock.monotonicMs();
    await this.#options.handle(signal);
  }
}
