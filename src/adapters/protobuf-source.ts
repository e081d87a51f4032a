import { formatTime } from '../api/timestamps.ts';
import { TextCache, type Words } from './text-cache.ts';

/** The bytes are not what they should be: cut short, or no protobuf, or of another kind. */
export class MalformedProtobufError extends Error {
  override readonly name = 'MalformedProtobufError';
}

const varintBytesMax = 10;
const lengthMax = 2 ** 31 - 1;
/** A power of two. */
const secondsKept = 1_024;
const two32 = 2 ** 32;

/**
 * Reads the protobuf wire format from a piece of a buffer, in place. Fields are told apart by their tag, which is the
 * field's number times eight plus its wire type, so a field of an unexpected type is like one that is unknown. Texts and
 * times that were read before are not made again. Every method throws a {@link MalformedProtobufError}.
 */
export class ProtobufSource implements Words {
  readonly #texts = new TextCache();
  /** Apart, so that what comes with each object does not stand between the names of one and of the next. */
  readonly #names = new TextCache();
  readonly #seconds: number[] = Array.from({ length: secondsKept }, () => Number.NaN);
  readonly #secondTexts: string[] = Array.from({ length: secondsKept }, () => '');
  readonly #microText = Buffer.alloc('2026-11-21T06:42:20.123456Z'.length);
  #microSecond = Number.NaN;
  bytes: Buffer = Buffer.alloc(0);
  memory = new DataView(this.bytes.buffer);
  offset = 0;
  at = 0;
  #end = 0;

  /** Begins anew with the bytes from `from` to `to`. */
  begin(bytes: Buffer, from: number, to: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.offset = bytes.byteOffset;
      // The pieces that arrive together mostly lie in the same memory.
      if (bytes.buffer !== this.memory.buffer) this.memory = new DataView(bytes.buffer);
    }
    this.at = from;
    this.#end = to;
  }

  /** A tag. */
  tag(): number {
    const tag = this.#varint();
    if (tag < 8) throw new MalformedProtobufError('a field without a number');
    return tag;
  }

  /** Where the message, list or text that begins here ends. */
  enter(): number {
    const length = this.#varint();
    const end = this.at + length;
    if (end > this.#end) throw new MalformedProtobufError('a field is longer than what is around it');
    return end;
  }

  /** To be called where {@link enter} said that it ends: a field that reaches beyond is found out here. */
  leave(end: number): void {
    if (this.at !== end) throw new MalformedProtobufError('a field is longer than the message that it is in');
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

  /** Skips this field and those of the same tag that follow it at once, up to `limit`; returns where the last one ends. */
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

  /** Exact up to 2^53, like everything that comes as JSON. */
  int64(): number {
    let low = 0;
    let high = 0;
    for (let place = 0; place < varintBytesMax; place += 1) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      if (place < 4) low |= bits << (7 * place);
      else if (place > 4) high |= bits << (7 * place - 32);
      else {
        low |= bits << 28;
        high |= bits >> 4;
      }
      if (byte < 0x80) return high * two32 + (low >>> 0);
    }
    throw new MalformedProtobufError('a number of more than ten bytes');
  }

  /** A text that is likely to come again. */
  text(): string {
    const from = this.#enterText();
    return this.#texts.read(this, from, this.at);
  }

  /** What names one object among those of which all come again and again. */
  nameText(): string {
    const from = this.#enterText();
    return this.#names.read(this, from, this.at);
  }

  /** A text that is likely to come once only. */
  freshText(): string {
    const from = this.#enterText();
    return this.bytes.toString('utf8', from, this.at);
  }

  /** Are these the bytes of this field? It is read past either way. `wanted` is ASCII. */
  textIs(wanted: string): boolean {
    const from = this.#enterText();
    if (this.at - from !== wanted.length) return false;
    for (let place = 0; place < wanted.length; place += 1) {
      if (this.bytes[from + place] !== wanted.charCodeAt(place)) return false;
    }
    return true;
  }

  /** `metav1.Time` as JSON has it: whole seconds, null for Go's zero time, which has no bytes at all. */
  time(): string | null {
    const end = this.enter();
    if (this.at === end) return null;
    let seconds = 0;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) seconds = this.int64();
      else this.skip(tag);
    }
    this.leave(end);
    return this.#secondText(seconds);
  }

  /** `metav1.MicroTime` as JSON has it: six digits behind the second. */
  microTime(): string | null {
    const end = this.enter();
    if (this.at === end) return null;
    let seconds = 0;
    let nanos = 0;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === 8) seconds = this.int64();
      else if (tag === 16) nanos = this.int64();
      else this.skip(tag);
    }
    this.leave(end);
    return this.#microTextOf(seconds, nanos);
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
    const place = seconds & (secondsKept - 1);
    if (this.#seconds[place] !== seconds) {
      this.#secondTexts[place] = formatSecond(seconds);
      this.#seconds[place] = seconds;
    }
    return this.#secondTexts[place] ?? '';
  }

  #enterText(): number {
    const end = this.enter();
    const from = this.at;
    this.at = end;
    return from;
  }

  /** Nearly all are of one byte or two. */
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

function formatSecond(seconds: number): string {
  try {
    return formatTime(seconds * 1_000);
  } catch (cause) {
    throw new MalformedProtobufError('a time beyond all years', { cause });
  }
}
