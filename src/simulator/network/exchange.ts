import { ApiError } from '../../machinery/api/api-error.ts';
import type { SimulatedApiServer } from '../server/api-server.ts';
import type { Occurrence, Timeline } from '../time/timeline.ts';
import type { VirtualProcess } from '../time/virtual-process.ts';
import { isWrite, LostConnection, type Network, type RequestLine, type Transit } from './network.ts';

interface ExchangeOptions<T> {
  readonly process: VirtualProcess;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly line: RequestLine;
  readonly connection: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Carries the request out on the server that it reached. */
  readonly carryOut: (server: SimulatedApiServer) => Promise<T>;
}

/** One attempt at a request: there, carried out, and back. */
export class Exchange<T> {
  readonly #options: ExchangeOptions<T>;
  readonly #outcome = Promise.withResolvers<T>();
  #timer: Occurrence | undefined;
  #unsubscribe: (() => void) | undefined;
  #isOver = false;

  constructor(options: ExchangeOptions<T>) {
    this.#options = options;
  }

  run(): Promise<T> {
    const { process, network, timeline, signal, line, connection, timeoutMs } = this.#options;
    process.abortListeners.add(signal, this.#abort);
    this.#timer = process.after(timeoutMs, this.#timeOut);
    const server = network.serverFor(connection);
    const transit = network.transit('request', line, server?.name ?? '');
    timeline.after(transit.delayMs, () => this.#reach(server, transit));
    return this.#outcome.promise;
  }

  readonly #abort = (): void => this.#fail(new ApiError({ reason: 'aborted', message: 'aborted by the caller' }));

  readonly #timeOut = (): void => this.#fail(timeoutError());

  #reach(server: SimulatedApiServer | undefined, transit: Transit): void {
    if (transit.isLost) return;
    if (transit.answer !== undefined) return this.#arrive(() => this.#fail(transit.answer ?? timeoutError()));
    if (server === undefined) return this.#arrive(() => this.#fail(refusedError()));
    if (transit.isReset || !server.isUp) return this.#arrive(() => this.#breakConnection());
    void this.#carryOut(server);
  }

  async #carryOut(server: SimulatedApiServer): Promise<void> {
    if (!this.#isOver) this.#unsubscribe = server.onStop(() => this.#arrive(() => this.#breakConnection()));
    try {
      const value = await this.#options.carryOut(server);
      this.#respond(server, () => this.#outcome.resolve(value));
    } catch (error) {
      this.#respond(server, () => this.#outcome.reject(error));
    }
  }

  #respond(server: SimulatedApiServer, end: () => void): void {
    const { network, timeline, line } = this.#options;
    const transit = network.transit('response', line, server.name);
    if (transit.isLost) return;
    timeline.after(transit.delayMs, () => {
      this.#arrive(() => (transit.isReset ? this.#breakConnection() : this.#settle(end)));
    });
  }

  #breakConnection(): void {
    const { network, connection, line } = this.#options;
    network.forget(connection);
    this.#fail(new LostConnection(isWrite(line)));
  }

  #arrive(run: () => void): void {
    this.#options.process.arrive(run);
  }

  #fail(error: ApiError): void {
    if (error.reason === 'timeout') this.#options.network.forget(this.#options.connection);
    this.#settle(() => this.#outcome.reject(error));
  }

  #settle(end: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.process.abortListeners.remove(this.#options.signal, this.#abort);
    if (this.#timer !== undefined) this.#timer.cancelled = true;
    this.#unsubscribe?.();
    end();
  }
}

function timeoutError(): ApiError {
  return new ApiError({ reason: 'timeout', message: 'no complete response before the timeout' });
}

function refusedError(): ApiError {
  return new ApiError({ reason: 'unavailable', message: 'connection refused' });
}
