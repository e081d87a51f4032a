/** Lets a bounded number of acts run at once; the others wait in the order in which they came. */
export class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnceMax: number) {
    this.#free = atOnceMax;
  }

  /** Runs the act when there is room, and settles as it does. Whoever waits too long is stopped by the act's own signal. */
  async pass<T>(act: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await act();
    } finally {
      this.#leave();
    }
  }

  #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
