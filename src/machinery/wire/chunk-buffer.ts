/** A part of a response is larger than any object that the API server can store. */
export class ChunkTooLongError extends Error {
  override readonly name = 'ChunkTooLongError';
}

const noBytes = Buffer.alloc(0);

/** The bytes of a part that spans several chunks: concatenated once, so that the cost is not quadratic in its length. */
export class ChunkBuffer {
  #begun: Buffer[] = [];
  #bytes = 0;
  #needed: number;

  /** `needed`: number of bytes without which {@link push} returns none. */
  constructor(needed = 0) {
    this.#needed = needed;
  }

  /** Number of buffered bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The buffered bytes followed by this chunk; undefined while that is less than needed. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#bytes + chunk.length >= this.#needed) return this.take(chunk);
    this.add(chunk);
    return undefined;
  }

  /** Buffers unused bytes; `needed` is the total number of bytes required for the next step. */
  retain(rest: Buffer, needed: number): void {
    this.#needed = needed;
    this.add(rest);
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#begun.push(bytes);
    this.#bytes += bytes.length;
  }

  /** The buffered bytes followed by `end`; nothing is buffered then. Bytes of one chunk are not copied. */
  take(end: Buffer = noBytes): Buffer {
    if (this.#bytes === 0) return end;
    this.add(end);
    const [first = end] = this.#begun;
    const bytes = this.#begun.length === 1 ? first : Buffer.concat(this.#begun, this.#bytes);
    this.#begun = [];
    this.#bytes = 0;
    return bytes;
  }
}
