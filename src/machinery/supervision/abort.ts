/**
 * The reason of aborts that only end a wait or a call: a reason of its own for each would take a stack trace, which costs more
 * than the wait.
 */
export const abortReason = new DOMException('aborted', 'AbortError');

/**
 * One abort listener for each signal, shared by all its subscribers: adding and removing a listener of a signal costs more
 * than most of the waits that use it. The set of a signal lives as long as the signal.
 */
export class SharedAbortListeners {
  readonly #listeners = new WeakMap<AbortSignal, Set<() => void>>();

  /** `onAbort` is called once, when the signal aborts; never if it has aborted already. */
  add(signal: AbortSignal, onAbort: () => void): void {
    const known = this.#listeners.get(signal);
    if (known !== undefined) {
      known.add(onAbort);
      return;
    }
    const listeners = new Set([onAbort]);
    this.#listeners.set(signal, listeners);
    const notify = (): void => {
      this.#listeners.delete(signal);
      for (const listener of listeners) listener();
    };
    signal.addEventListener('abort', notify, { once: true });
  }

  remove(signal: AbortSignal, onAbort: () => void): void {
    this.#listeners.get(signal)?.delete(onAbort);
  }
}

const parentListeners = new SharedAbortListeners();

/** Aborts with any parent signal, or by {@link abort}. {@link release} removes its listeners. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];

  constructor(...parents: readonly AbortSignal[]) {
    this.#parents = parents;
    for (const parent of parents) parentListeners.add(parent, this.abort);
    if (parents.some((parent) => parent.aborted)) this.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly abort = (): void => this.#controller.abort(abortReason);

  release(): void {
    for (const parent of this.#parents) parentListeners.remove(parent, this.abort);
  }
}

/** Resolves when the signal aborts; at once if it has aborted already. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Waits for the promise, at most until the signal aborts. Rejects as the promise does; leaves no listener. */
export function untilSettledOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  return raceWithAbort([promise, aborted.promise], signal, () => aborted.resolve());
}

/** Settles as the promise does; rejects at once when the signal aborts, while the promise may continue. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  return raceWithAbort([promise, aborted.promise], signal, () => aborted.reject(signal.reason));
}

async function raceWithAbort<T>(promises: readonly Promise<T>[], signal: AbortSignal, onAbort: () => void): Promise<T> {
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race(promises);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
