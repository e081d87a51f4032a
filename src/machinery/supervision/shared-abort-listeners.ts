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
