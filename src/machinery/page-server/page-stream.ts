import type { ServerResponse } from 'node:http';

/** The body of a response that is written over time. */
export interface PageStream {
  /** Bytes that were written and that the client has not taken from this process. */
  readonly pendingBytes: number;
  /** Nothing is written to a stream that has ended. */
  write(text: string): void;
  /** Resolves at the earliest in the next turn of the event loop: when nothing is pending, or when the stream has ended. */
  drained(): Promise<void>;
  /** Ends the response. A client that does not read the rest within a second is disconnected. */
  end(): void;
  /** Called once when the stream has ended, for whatever reason. */
  onClose(listener: () => void): void;
}

/** Time for the rest of the response. */
const endGraceMs = 1_000;

export class HttpPageStream implements PageStream {
  readonly #response: ServerResponse;
  readonly #listeners: (() => void)[] = [];
  #isClosed = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    // A stream may be silent for longer than a response may take; the writer notices a client that does not read.
    response.socket?.setTimeout(0);
    if (response.destroyed) this.#close();
    else response.once('close', () => this.#close());
  }

  get pendingBytes(): number {
    return this.#response.writableLength;
  }

  write(text: string): void {
    if (!this.#isClosed) this.#response.write(text);
  }

  drained(): Promise<void> {
    if (this.#isClosed || !this.#response.writableNeedDrain) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => {
      const done = (): void => {
        this.#response.removeListener('drain', done);
        this.#response.removeListener('close', done);
        resolve();
      };
      this.#response.once('drain', done);
      this.#response.once('close', done);
    });
  }

  end(): void {
    if (this.#isClosed) return;
    this.#response.end();
    setTimeout(() => this.#response.destroy(), endGraceMs).unref();
    this.#close();
  }

  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#listeners.push(listener);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of this.#listeners) listener();
  }
}
