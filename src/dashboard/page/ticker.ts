/** Calls all listeners once a second, in one task; stops while there are none. */
export class Ticker {
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => this.#tick(), 1_000);
    return () => this.#unsubscribe(listener);
  }

  #tick(): void {
    for (const listener of this.#listeners) listener();
  }

  #unsubscribe(listener: () => void): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
