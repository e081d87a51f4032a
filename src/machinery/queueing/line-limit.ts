/** Admits at most so many log lines in a period, and counts the others. Takes the time as an argument. */
export class LineLimit {
  readonly #linesMax: number;
  readonly #periodMs: number;
  #periodAtMs = -Infinity;
  #lines = 0;
  #suppressed = 0;

  constructor(linesMax: number, periodMs: number) {
    this.#linesMax = linesMax;
    this.#periodMs = periodMs;
  }

  /** The fields that this line has in addition: how many were suppressed before it. Undefined: this one is suppressed. */
  admit(nowMs: number): { readonly suppressed?: number } | undefined {
    // A wall clock may be set back.
    if (Math.abs(nowMs - this.#periodAtMs) >= this.#periodMs) {
      this.#periodAtMs = nowMs;
      this.#lines = 0;
    }
    if (this.#lines >= this.#linesMax) {
      this.suppress();
      return undefined;
    }
    this.#lines += 1;
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return suppressed === 0 ? {} : { suppressed };
  }

  /** Counts a line that is suppressed for another reason. */
  suppress(): void {
    this.#suppressed += 1;
  }
}
