import { ChunkBuffer, ChunkTooLongError } from './chunk-buffer.ts';

const newline = 0x0a;
export const lineBytesMax = 16 * 1024 * 1024;

/** Splits a byte stream into lines. It works on bytes because a chunk may end inside a character. */
export class LineSplitter {
  readonly #begun = new ChunkBuffer();

  /** The lines that this chunk completes, without newlines; empty lines are dropped. Throws a {@link ChunkTooLongError}. */
  push(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      const line = this.#begun.take(chunk.subarray(from, at));
      if (line.length > 0) lines.push(line);
      from = at + 1;
    }
    this.#begun.add(chunk.subarray(from));
    if (this.#begun.bytes > lineBytesMax) throw new ChunkTooLongError(`a line is longer than ${lineBytesMax} bytes`);
    return lines;
  }

  /** Bytes of a partial line. */
  get begunBytes(): number {
    return this.#begun.bytes;
  }
}
