import { ApiError } from '../../machinery/api/api-error.ts';
import type { WatchEvent } from '../../machinery/ports/kube-reader.ts';
import type { SimulatedApiServer } from '../server/api-server.ts';
import type { WatchSink } from '../server/server-watch.ts';
import type { Timeline } from '../time/timeline.ts';
import type { VirtualProcess } from '../time/virtual-process.ts';
import { asDecoded, LostConnection, type Network, type RequestLine } from './network.ts';

/** The client's end of a watch: what has arrived and was not read yet. */
export class ClientStream {
  readonly #arrived: WatchEvent[] = [];
  #end: 'closed' | ApiError | undefined;
  #wake: (() => void) | undefined;

  push(events: readonly WatchEvent[]): void {
    if (this.#end !== undefined) return;
    this.#arrived.push(...events);
    this.#wake?.();
  }

  /** The stream ends after what has arrived: cleanly, or with an error. */
  end(how: 'closed' | ApiError): void {
    this.#end ??= how;
    this.#wake?.();
  }

  /** Each iteration yields what arrived together. */
  async *read(signal: AbortSignal): AsyncGenerator<readonly WatchEvent[]> {
    const stop = (): void => this.end(new ApiError({ reason: 'aborted', message: 'the watch was aborted' }));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      for (;;) {
        if (this.#arrived.length > 0 && !signal.aborted) yield this.#arrived.splice(0);
        else if (this.#end === 'closed') return;
        else if (this.#end !== undefined) throw this.#end;
        else await this.#more();
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
  }
}

/** Changes of a watch that a server repeats at most. */
const repeatedMax = 5;
/** Keeps the order of what is sent on one connection. */
const orderMs = 1e-6;

interface FrameSenderOptions {
  readonly process: VirtualProcess;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly line: RequestLine;
  readonly connection: string;
  readonly server: SimulatedApiServer;
  readonly stream: ClientStream;
  readonly signal: AbortSignal;
}

/** Sends the frames of one watch to its client, in order. */
export class FrameSender implements WatchSink {
  readonly #options: FrameSenderOptions;
  #lastAtMs = 0;
  #isBroken = false;
  /** Events that may be repeated. */
  readonly #recent: WatchEvent[] = [];

  constructor(options: FrameSenderOptions) {
    this.#options = options;
  }

  /** `close` closes the server's end: when the client aborts, and when the server stops. */
  connect(close: () => void): void {
    const { signal, server, timeline, network } = this.#options;
    const closeLater = (): void => {
      timeline.after(network.latencyMs(), close);
      unsubscribe();
    };
    const unsubscribe = server.onStop(() => this.#break());
    signal.addEventListener('abort', closeLater, { once: true });
  }

  send(events: readonly WatchEvent[]): void {
    if (this.#isBroken) return;
    const { network, line, server, stream } = this.#options;
    const transit = network.transit('frames', line, server.name);
    // A lost segment is sent again or breaks the connection: a stream never goes on behind a gap.
    if (transit.isLost) {
      this.#isBroken = true;
      return;
    }
    if (transit.isReset) return this.#break();
    const isUndecodable = network.undecodable(line, server.name);
    const shown = isUndecodable === undefined ? events : events.map((event) => asDecoded(event, isUndecodable));
    const sent = transit.isDuplicated ? [...shown, ...shown, ...this.#recent] : shown;
    this.#later(transit.delayMs, () => stream.push(sent));
    this.#keepRecent(shown);
  }

  #keepRecent(shown: readonly WatchEvent[]): void {
    for (const event of shown) if (isChange(event)) this.#recent.push(event);
    if (this.#recent.length > repeatedMax) this.#recent.splice(0, this.#recent.length - repeatedMax);
  }

  end(): void {
    const { network, stream } = this.#options;
    if (!this.#isBroken) this.#later(network.latencyMs(), () => stream.end('closed'));
    this.#isBroken = true;
  }

  #break(): void {
    const { network, connection, stream } = this.#options;
    this.#isBroken = true;
    network.forget(connection);
    this.#later(0, () => stream.end(new LostConnection(false)));
  }

  #later(delayMs: number, run: () => void): void {
    const { timeline, process } = this.#options;
    this.#lastAtMs = Math.max(this.#lastAtMs + orderMs, timeline.nowMs + delayMs);
    timeline.at(this.#lastAtMs, () => process.arrive(run));
  }
}

function isChange({ type }: WatchEvent): boolean {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
}
