/** One signal that aborts with any of several, or when time is up; its links to the others end with {@link release}. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;
  #overdue = false;

  constructor(parents: readonly AbortSignal[], timeoutMs?: number) {
    this.#parents = parents;
    for (const parent of parents) parent.addEventListener('abort', this.#abort);
    if (parents.some((parent) => parent.aborted)) this.#abort();
    this.#timer = timeoutMs === undefined ? undefined : setTimeout(this.#expire, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It was the time that ended it. */
  get overdue(): boolean {
    return this.#overdue;
  }

  /** It was one of the others that ended it. */
  get aborted(): boolean {
    return this.signal.aborted && !this.#overdue;
  }

  /** Stops the time; the other signals still count. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  release(): void {
    this.stopTimer();
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => {
    this.#controller.abort();
  };

  readonly #expire = (): void => {
    this.#overdue = !this.signal.aborted;
    this.#controller.abort();
  };
}

/** As the promise does; rejects at once when the signal aborts, whatever the promise goes on doing. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
