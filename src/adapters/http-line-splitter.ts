import { PieceTooLongError } from './piece-gatherer.ts';

const newline = 0x0a;
export const lineBytesMax = 16 * 1024 * 1024;

/**
 * Cuts a stream of bytes into lines at newline bytes. It works on bytes because a chunk may end inside a character; a
 * line that spans many chunks is put together once, when its end has arrived.
 */
export class LineSplitter {
  #begun: Buffer[] = [];
  #begunBytes = 0;

  /** The lines that this chunk completes, without their newlines; empty lines are left out. Throws a {@link PieceTooLongError}. */
  push(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      const line = this.#finish(chunk.subarray(from, at));
      if (line.length > 0) lines.push(line);
      from = at + 1;
    }
    this.#begin(chunk.subarray(from));
    return lines;
  }

  /** Bytes of a line whose end has not arrived. */
  get begunBytes(): number {
    return this.#begunBytes;
  }

  #finish(end: Buffer): Buffer {
    if (this.#begunBytes === 0) return end;
    const line = Buffer.concat([...this.#begun, end]);
    this.#begun = [];
    this.#begunBytes = 0;
    return line;
  }

  #begin(rest: Buffer): void {
    if (rest.length === 0) return;
    if (this.#begunBytes + rest.length > lineBytesMax) {
      throw new PieceTooLongError(`a line of more than ${lineBytesMax} bytes`);
    }
    this.#begun.push(rest);
    this.#begunBytes += rest.length;
  }
}
