import { ApiError } from '../../machinery/api/api-error.ts';
import type { WatchEvent } from '../../machinery/ports/kube-reader.ts';

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
