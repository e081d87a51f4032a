import { formatTime } from '../api/timestamps.ts';
import { StringInterner, type Words } from './string-interner.ts';

/** Malformed bytes: truncated, not protobuf, or of another kind. */
export class MalformedProtobufError extends Error {
  override readonly name = 'MalformedProtobufError';
}

const varintBytesMax = 10;
/** The tag of a text in field 1. */
const firstText = 0x0a;
const lengthMax = 2 ** 31 - 1;
/** A power of two. */
const secondsKept = 1_024;
const two32 = 2 ** 32;
const two64 = 2n ** 64n;
const two63 = 2n ** 63n;
const nanosMax = 999_999_999;
/** Years 0 to 9999: other times have no RFC 3339 text. */
const secondLimits = {
  min: Date.parse('0000-01-01T00:00:00Z') / 1_000,
  max: Date.parse('9999-12-31T23:59:59Z') / 1_000,
};

/**
 * Reads the protobuf wire format from a part of a buffer, in place. Fields are identified by their tag, the field number
 * times eight plus the wire type, so a field of an unexpected type is treated as unknown. Strings and times are interned.
 * Every method throws a {@link MalformedProtobufError}.
 */
export class ProtobufReader implements Words {
  readonly #texts = new StringInterner();
  /** A separate cache, so that strings of each object do not separate the names of consecutive objects. */
  readonly #names = new StringInterner();
  readonly #seconds: number[] = Array.from({ length: secondsKept }, () => Number.NaN);
  readonly #secondTexts: string[] = Array.from({ length: secondsKept }, () => '');
  readonly #microText = Buffer.alloc('2026-11-21T06:42:20.123456Z'.length);
  #microSecond = Number.NaN;
  bytes: Buffer = Buffer.alloc(0);
  memory = new DataView(this.bytes.buffer);
  offset = 0;
  at = 0;
  #end = 0;

  /** Restarts with the bytes from `from` to `to`. */
  begin(bytes: Buffer, from: number, to: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.offset = bytes.byteOffset;
      // Chunks that arrive together are mostly in the same memory.
      if (bytes.buffer !== this.memory.buffer) this.memory = new DataView(bytes.buffer);
    }
    this.at = from;
    this.#end = to;
  }

  /** The next tag. */
  tag(): number {
    const tag = this.#varint();
    if (tag < 8) throw new MalformedProtobufError('a field without a number');
    return tag;
  }

  /** The end of the message, list or string that starts here. */
  enter(): number {
    const length = this.#varint();
    const end = this.at + length;
    if (end > this.#end) throw new MalformedProtobufError('a field is longer than what is around it');
    return end;
  }

  /** Call it at the end returned by {@link enter}: detects a field that extends beyond its message. */
  exit(end: number): void {
    if (this.at !== end) throw new MalformedProtobufError('a field is longer than the message that it is in');
  }

  /** Passes the tag of each field of a message to `read`, which must read its content or skip it. */
  message(read: (tag: number) => void, end: number = this.enter()): void {
    while (this.at < end) read(this.tag());
    this.exit(end);
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.int64();
        break;
      case 1:
        this.at += 8;
        break;
      case 2:
        this.at = this.enter();
        break;
      case 5:
        this.at += 4;
        break;
      default:
        throw new MalformedProtobufError(`a field of wire type ${tag & 7}`);
    }
    if (this.at > this.#end) throw new MalformedProtobufError('the message is cut short');
  }

  /** Skips this field and directly following ones of the same tag, up to `limit`; returns the end of the last one. */
  skipRun(tag: number, limit: number): number {
    this.skip(tag);
    for (let end = this.at; ; end = this.at) {
      if (end >= limit || this.#varint() !== tag) {
        this.at = end;
        return end;
      }
      this.skip(tag);
    }
  }

  flag(): boolean {
    return this.int64() !== 0;
  }

  /** Exact up to 2^53, as in JSON. */
  int64(): number {
    let low = 0;
    let high = 0;
    for (let index = 0; index < varintBytesMax; index += 1) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      if (index < 4) low |= bits << (7 * index);
      else if (index > 4) high |= bits << (7 * index - 32);
      else {
        low |= bits << 28;
        high |= bits >> 4;
      }
      if (byte < 0x80) return high * two32 + (low >>> 0);
    }
    throw new MalformedProtobufError('a number of more than ten bytes');
  }

  /** A string that is likely to occur again. */
  text(): string {
    const from = this.#enterText();
    return this.#texts.read(this, from, this.at);
  }

  /** The name of an object whose kind is read again and again in the same order. */
  nameText(): string {
    const from = this.#enterText();
    return this.#names.read(this, from, this.at);
  }

  /** A string that is likely to occur only once. */
  freshText(): string {
    const from = this.#enterText();
    return this.bytes.toString('utf8', from, this.at);
  }

  /** Whether the field's bytes equal `wanted` (ASCII). Moves past the field either way. */
  textIs(wanted: string): boolean {
    return this.#equals(this.#enterText(), wanted);
  }

  /** Text of the list (ASCII) that the field's bytes equal, or undefined. Moves past the field either way. */
  textIn(wanted: readonly string[]): string | undefined {
    const from = this.#enterText();
    return wanted.find((text) => this.#equals(from, text));
  }

  /**
   * Whether the message that starts here has one of these texts (ASCII) in its first field, as a message from Go has its
   * name. Does not move.
   */
  startsWith(wanted: readonly string[]): boolean {
    const { at } = this;
    const end = this.enter();
    const isWanted = at < end && this.at < end && this.tag() === firstText && this.textIn(wanted) !== undefined;
    this.at = at;
    return isWanted;
  }

  /** Compares the bytes up to the current position without making a string. */
  #equals(from: number, wanted: string): boolean {
    if (this.at - from !== wanted.length) return false;
    for (let index = 0; index < wanted.length; index += 1) {
      if (this.bytes[from + index] !== wanted.charCodeAt(index)) return false;
    }
    return true;
  }

  /**
   * `metav1.Time` as in JSON: whole seconds, null for Go's zero time, which has no bytes at all. A time outside RFC 3339
   * becomes {@link #opaqueTime}: the API server stores any 64 bits, and one field must not make the object undecodable.
   */
  time(): string | null {
    const end = this.enter();
    if (this.at === end) return null;
    const from = this.at;
    let seconds = 0;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) seconds = this.int64();
      else this.skip(tag);
    }
    this.exit(end);
    return isSecond(seconds) ? this.#secondText(seconds) : this.#opaqueTime(from, end);
  }

  /** `metav1.MicroTime` as in JSON: six fractional digits. Invalid times are handled as in {@link time}. */
  microTime(): string | null {
    const end = this.enter();
    if (this.at === end) return null;
    const from = this.at;
    let seconds = 0;
    let nanos = 0;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) seconds = this.int64();
      else if (tag === 16) nanos = this.int64();
      else this.skip(tag);
    }
    this.exit(end);
    const isTime = isSecond(seconds) && nanos >= 0 && nanos <= nanosMax;
    return isTime ? this.#microTextOf(seconds, nanos) : this.#opaqueTime(from, end);
  }

  /** `seconds:nanos`, exact: not RFC 3339, so transforms report it as malformed, and unique per time. */
  #opaqueTime(from: number, end: number): string {
    const fields: [seconds: bigint, nanos: bigint] = [0n, 0n];
    this.at = from;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8 || tag === 16) fields[tag === 8 ? 0 : 1] = this.#bigInt64();
      else this.skip(tag);
    }
    return fields.join(':');
  }

  #bigInt64(): bigint {
    let value = 0n;
    for (let index = 0n; index < varintBytesMax; index += 1n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << (7n * index);
      if (byte < 0x80) break;
    }
    const bits = value % two64;
    return bits < two63 ? bits : bits - two64;
  }

  #microTextOf(seconds: number, nanos: number): string {
    const text = this.#microText;
    if (seconds !== this.#microSecond) {
      text.write(`${this.#secondText(seconds).slice(0, -1)}.000000Z`, 'latin1');
      this.#microSecond = seconds;
    }
    let left = Math.floor(nanos / 1_000);
    for (let at = text.length - 2; at > text.length - 8; at -= 1) {
      text[at] = 0x30 + (left % 10);
      left = Math.floor(left / 10);
    }
    return text.toString('latin1');
  }

  #secondText(seconds: number): string {
    const index = seconds & (secondsKept - 1);
    if (this.#seconds[index] !== seconds) {
      this.#secondTexts[index] = formatTime(seconds * 1_000);
      this.#seconds[index] = seconds;
    }
    return this.#secondTexts[index] ?? '';
  }

  #enterText(): number {
    const end = this.enter();
    const from = this.at;
    this.at = end;
    return from;
  }

  /** Nearly all have one or two bytes. */
  #varint(): number {
    const { at, bytes } = this;
    const first = bytes[at] ?? 0;
    if (first < 0x80 && at < this.#end) {
      this.at = at + 1;
      return first;
    }
    const second = bytes[at + 1] ?? 0;
    if (second < 0x80 && at + 1 < this.#end) {
      this.at = at + 2;
      return (first & 0x7f) | (second << 7);
    }
    return this.#longVarint();
  }

  #longVarint(): number {
    const value = this.int64();
    if (value < 0 || value > lengthMax) throw new MalformedProtobufError('a length or a tag beyond all bounds');
    return value;
  }

  #byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined || this.at >= this.#end) throw new MalformedProtobufError('the message is cut short');
    this.at += 1;
    return byte;
  }
}

function isSecond(seconds: number): boolean {
  return seconds >= secondLimits.min && seconds <= secondLimits.max;
}
