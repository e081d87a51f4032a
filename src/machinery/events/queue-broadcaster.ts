import type { EventRecorder } from '../ports/event-recorder.ts';
import { LinkedAbort, untilAborted } from '../supervision/abort.ts';
import type { Broadcaster, BroadcasterOptions } from './broadcaster.ts';
import { EventNames } from './event-name.ts';
import { EventQueue, type EventQueueOptions, eventQueueMax } from './event-queue.ts';
import { EventSink, type EventWrite, type Settled, type SinkBehavior, triesMax } from './event-sink.ts';

/** At shutdown each pending event gets one try instead of twelve. */
const flushTriesMax = 1;

/** The API in which the events are written. */
interface QueueBroadcasterApi<E> extends Pick<EventQueueOptions<E>, 'build' | 'describeProblem'> {
  readonly behavior: SinkBehavior;
}

/** A broadcaster with one bounded queue and one writer: one write at a time, in the order of {@link nextWrite}. */
export abstract class QueueBroadcaster<E, W extends EventWrite> implements Broadcaster {
  protected readonly options: BroadcasterOptions;
  protected readonly names: EventNames;
  protected readonly queue: EventQueue<E>;
  readonly #sink: EventSink;
  /** Started and not finished: tried again before any other write. */
  #current: W | undefined;
  #running = false;
  #wake: () => void = () => {};
  readonly #idleWaiters = new Set<() => void>();

  constructor(options: BroadcasterOptions, { behavior, ...api }: QueueBroadcasterApi<E>) {
    const { clock, random, queueMax, names = new EventNames(clock, random) } = options;
    this.options = options;
    this.names = names;
    const onAdded = (): void => this.wake();
    this.queue = new EventQueue({ ...options, ...api, names, queueMax: queueMax || eventQueueMax, onAdded });
    this.#sink = new EventSink(options, behavior);
  }

  /** The next write; undefined when none is due. Not called again before {@link settle}. */
  protected abstract nextWrite(): W | undefined;

  /** Called with the final result of each write. */
  protected abstract settle(write: W, delivery: Settled): void;

  get pending(): number {
    return this.queue.length;
  }

  recorder(component: string, host: string | undefined = this.options.host): EventRecorder {
    return this.queue.recorder({ component, host });
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error('the event broadcaster is already running');
    this.#running = true;
    while (!signal.aborted) {
      // No await between an empty result and the wait: a wake-up in between would be lost.
      const write = this.#startWrite();
      if (write !== undefined) await this.#write(write, triesMax, signal);
      else await this.#waitWake(signal);
    }
    this.#running = false;
    this.#notifyIdle();
  }

  async flush(timeoutMs: number): Promise<number> {
    const deadline = new AbortController();
    const expiry = this.options.clock.sleep(timeoutMs, deadline.signal).then(() => deadline.abort());
    await this.#waitIdle(deadline.signal);
    if (!this.#running) await this.#writeRest(deadline.signal);
    deadline.abort();
    await expiry;
    return this.pending;
  }

  protected get running(): boolean {
    return this.#running;
  }

  /** Called when a write is due. */
  protected wake(): void {
    this.#wake();
  }

  async #writeRest(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const write = this.#startWrite();
      if (write === undefined) break;
      await this.#write(write, flushTriesMax, signal);
    }
    this.queue.close();
  }

  #startWrite(): W | undefined {
    this.#current ??= this.nextWrite();
    return this.#current;
  }

  async #write(write: W, tries: number, signal: AbortSignal): Promise<void> {
    const delivery = await this.#sink.deliver(write, Math.min(tries, write.triesMax ?? tries), signal);
    if (delivery === 'unfinished') return;
    this.#current = undefined;
    this.settle(write, delivery);
    if (this.pending === 0) this.#notifyIdle();
  }

  /** Resolves when a write is due or the signal aborts. */
  async #waitWake(signal: AbortSignal): Promise<void> {
    this.#notifyIdle();
    const waiting = new LinkedAbort(signal);
    this.#wake = waiting.abort;
    await untilAborted(waiting.signal);
    this.#wake = () => {};
    waiting.release();
  }

  /** Resolves when the loop has no write left or has ended, or when the signal aborts. */
  async #waitIdle(signal: AbortSignal): Promise<void> {
    if (!this.#running || this.pending === 0) return;
    const waiting = new LinkedAbort(signal);
    this.#idleWaiters.add(waiting.abort);
    await untilAborted(waiting.signal);
    this.#idleWaiters.delete(waiting.abort);
    waiting.release();
  }

  #notifyIdle(): void {
    for (const done of this.#idleWaiters) done();
  }
}
