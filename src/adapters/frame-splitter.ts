import { PieceTooLongError } from './piece-gatherer.ts';

const lengthBytes = 4;
export const frameBytesMax = 16 * 1024 * 1024;

/** Takes a frame where it lies: the buffer belongs to the splitter and is good for the length of the call. */
export type TakeFrame = (bytes: Buffer, from: number, to: number) => void;

/**
 * Cuts a stream of bytes into frames, each behind its length as four bytes, the highest first. A frame that lies in one
 * chunk is not copied; one that spans many is put together once, when its end has arrived.
 */
export class FrameSplitter {
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** Of what has begun: as far as is known, which is its length at first. */
  #needed = lengthBytes;

  /** Gives away the frames that this chunk completes. Throws a {@link PieceTooLongError}. */
  push(chunk: Buffer, take: TakeFrame): void {
    let at = this.#begunBytes === 0 ? 0 : this.#complete(chunk, take);
    while (chunk.length - at >= lengthBytes) {
      const end = at + lengthBytes + lengthOf(chunk, at);
      if (end > chunk.length) break;
      take(chunk, at + lengthBytes, end);
      at = end;
    }
    if (at < chunk.length) this.#begin(chunk.subarray(at));
  }

  /** Bytes of a frame whose end has not arrived. */
  get begunBytes(): number {
    return this.#begunBytes;
  }

  /** Goes on with what has begun; returns where in this chunk the next frame begins. */
  #complete(chunk: Buffer, take: TakeFrame): number {
    let at = 0;
    while (this.#begunBytes > 0) {
      const missing = this.#needed - this.#begunBytes;
      this.#add(chunk.subarray(at, at + missing));
      at = Math.min(chunk.length, at + missing);
      if (this.#begunBytes < this.#needed) return at;
      const bytes = Buffer.concat(this.#begun, this.#begunBytes);
      const needed = lengthBytes + lengthOf(bytes, 0);
      this.#begun = [bytes];
      if (needed === this.#needed) this.#end(bytes, take);
      else this.#needed = needed;
    }
    return at;
  }

  #end(bytes: Buffer, take: TakeFrame): void {
    this.#begun = [];
    this.#begunBytes = 0;
    this.#needed = lengthBytes;
    take(bytes, lengthBytes, bytes.length);
  }

  #begin(rest: Buffer): void {
    this.#needed = rest.length < lengthBytes ? lengthBytes : lengthBytes + lengthOf(rest, 0);
    this.#add(rest);
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#begun.push(bytes);
    this.#begunBytes += bytes.length;
  }
}

function lengthOf(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length > frameBytesMax) throw new PieceTooLongError(`a frame of more than ${frameBytesMax} bytes`);
  return length;
}
