/** Something grew beyond what the API server can store: it is no object any more. */
export class PieceTooLongError extends Error {
  override readonly name = 'PieceTooLongError';
}

/**
 * Keeps what is left of chunks until there is enough of it to go on. A piece that spans many chunks is put together
 * once, so that its cost does not grow with the square of its length.
 */
export class PieceGatherer {
  #begun: Buffer[] = [];
  #bytes = 0;
  #needed: number;

  constructor(needed: number) {
    this.#needed = needed;
  }

  /** How much is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What was kept with this chunk behind it; undefined while that is less than needed. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#bytes === 0 && chunk.length >= this.#needed) return chunk;
    this.#begun.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return undefined;
    const all = Buffer.concat(this.#begun, this.#bytes);
    this.#begun = [];
    this.#bytes = 0;
    return all;
  }

  /** What was not used, and how many bytes from its beginning are needed before anything can be done with it. */
  keep(rest: Buffer, needed: number): void {
    this.#needed = needed;
    if (rest.length === 0) return;
    this.#begun.push(rest);
    this.#bytes += rest.length;
  }
}
