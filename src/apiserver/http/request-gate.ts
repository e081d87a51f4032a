/** How many requests may be under way (upstream `--max-requests-inflight`, `--max-mutating-requests-inflight`). */
export const readingMax = 400;
export const mutatingMax = 200;

export class RequestGate {
  #reading = 0;
  #mutating = 0;

  get inFlight(): number {
    return this.#reading + this.#mutating;
  }

  /** The way to leave again, or undefined where there is no room. Watches do not come through here. */
  enter(method: string): (() => void) | undefined {
    return method === 'GET' || method === 'HEAD' ? this.#enterReading() : this.#enterMutating();
  }

  #enterReading(): (() => void) | undefined {
    if (this.#reading >= readingMax) return undefined;
    this.#reading += 1;
    return () => {
      this.#reading -= 1;
    };
  }

  #enterMutating(): (() => void) | undefined {
    if (this.#mutating >= mutatingMax) return undefined;
    this.#mutating += 1;
    return () => {
      this.#mutating -= 1;
    };
  }
}
