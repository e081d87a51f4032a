/**
 * Writes protobuf from the last byte to the first, as Go's generated code does: the content of a message is complete before
 * its length is written, so that nothing has to be measured beforehand.
 */

const bytesInitial = 64 * 1024;
/** A larger buffer is not kept for the next message. */
const keptBytesMax = 4 * 1024 * 1024;
/** Up to this length a string is written character by character, which is faster than a call. */
const shortCharsMax = 64;
const utf8BytesMax = 3;
const varintBytesMax = 10;
const continued = 0x80;
const groupBits = 7;
const int32Max = 0x7f_ff_ff_ff;

export class ReverseWriter {
  #bytes = Buffer.allocUnsafe(bytesInitial);
  /** Index of the first byte that is written. */
  #at = bytesInitial;

  /** Number of bytes written so far. The length of a part is the difference of two of them. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** A copy of what was written, with memory of its own: it may be kept for long. The writer is empty afterwards. */
  take(): Buffer {
    const taken = Buffer.allocUnsafeSlow(this.length);
    this.#bytes.copy(taken, 0, this.#at);
    this.clear();
    return taken;
  }

  clear(): void {
    if (this.#bytes.length > keptBytesMax) this.#bytes = Buffer.allocUnsafe(bytesInitial);
    this.#at = this.#bytes.length;
  }

  /** An integer; a negative one has ten bytes. Throws a RangeError for a fraction, and for what 64 bits do not hold. */
  varint(value: number): void {
    if (value >= 0 && value < continued && Number.isInteger(value)) {
      this.#reserve(1);
      this.#at -= 1;
      this.#bytes[this.#at] = value;
      return;
    }
    if (!isVarint(value)) throw new RangeError(`${value} is not an integer of 64 bits`);
    if (value < 0 || value > int32Max) {
      this.#writeLarge(BigInt(value));
      return;
    }
    this.#reserve(varintBytesMax);
    this.#writeSmall(value);
  }

  #writeLarge(value: bigint): void {
    this.#reserve(varintBytesMax);
    this.#writeGroups(BigInt.asUintN(64, value));
  }

  /** The integer that a stored object has in a field; zero for another value, which must not hide the other objects of a list. */
  integer(value: unknown): void {
    if (typeof value === 'bigint') this.#writeLarge(value);
    else this.varint(isVarint(value) ? Number(value) : 0);
  }

  #writeSmall(value: number): void {
    const end = this.#at;
    let size = 1;
    for (let rest = value >>> groupBits; rest > 0; rest >>>= groupBits) size += 1;
    let at = end - size;
    this.#at = at;
    let rest = value;
    for (; rest >= continued; rest >>>= groupBits, at += 1) this.#bytes[at] = (rest & 0x7f) | continued;
    this.#bytes[at] = rest;
  }

  #writeGroups(value: bigint): void {
    const groups: number[] = [];
    for (let rest = value; rest > 0n; rest >>= 7n) groups.push(Number(rest & 0x7fn));
    this.#at -= groups.length;
    const last = groups.length - 1;
    for (const [index, group] of groups.entries()) {
      this.#bytes[this.#at + index] = index < last ? group | continued : group;
    }
  }

  /** UTF-8 after its length. */
  text(value: string): void {
    if (value.length > shortCharsMax || !this.#writeAscii(value)) this.#writeUtf8(value);
  }

  /** False, and nothing is written, if there are other characters. */
  #writeAscii(value: string): boolean {
    this.#reserve(value.length + 1);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = value.length - 1; index >= 0; index -= 1) {
      const code = value.charCodeAt(index);
      if (code >= continued) return false;
      at -= 1;
      bytes[at] = code;
    }
    at -= 1;
    bytes[at] = value.length;
    this.#at = at;
    return true;
  }

  #writeUtf8(value: string): void {
    this.#reserve(value.length * utf8BytesMax + varintBytesMax);
    const size = Buffer.byteLength(value);
    this.#at -= size;
    this.#bytes.write(value, this.#at, size, 'utf8');
    this.varint(size);
  }

  /** Bytes after their length. */
  block(value: Uint8Array): void {
    this.raw(value);
    this.varint(value.length);
  }

  /** Bytes without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
  }

  /** The length of a frame. */
  uint32BigEndian(value: number): void {
    this.#reserve(4);
    this.#at -= 4;
    this.#bytes.writeUInt32BE(value, this.#at);
  }

  #reserve(bytes: number): void {
    if (this.#at >= bytes) return;
    const written = this.#bytes.subarray(this.#at);
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, written.length + bytes));
    this.#at = larger.length - written.length;
    larger.set(written, this.#at);
    this.#bytes = larger;
  }
}

function isVarint(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= -(2 ** 63) && Number(value) < 2 ** 64;
}
