/** A power of two. Enough for the names and uids of several ten thousand nodes. */
const textsMax = 65_536;
/** A power of two. Few distinct label or toleration lists are shared by many objects. */
const partsMax = 8_192;
const cachedTextBytesMax = 64;
const cachedTextWordsMax = cachedTextBytesMax / 4;
const cachedPartBytesMax = 2_048;

/** Bytes, and their memory from `offset` on, to be read as words. */
export interface Words {
  readonly bytes: Buffer;
  readonly memory: DataView;
  readonly offset: number;
}

/**
 * Interns strings by their UTF-8 bytes. Strings are stored in order of first use, and the successor of the last hit is
 * checked first: repeated strings mostly recur in the same order, as heartbeats do, and then need no hashing. A new string
 * replaces the oldest, so the cache does not grow and needs no cleanup. It takes nearly five megabytes from its first
 * use on.
 */
export class StringInterner {
  #texts: string[] = [];
  #lengths = new Uint8Array(0);
  #words = new Int32Array(0);
  /** By hash; the entry may have been replaced by another string. */
  #places = new Int32Array(0);
  #likely = 0;
  #oldest = 0;

  read(source: Words, from: number, to: number): string {
    if (to - from > cachedTextBytesMax) return source.bytes.toString('utf8', from, to);
    const place = this.#isAt(this.#likely, source, from, to) ? this.#likely : this.#search(source, from, to);
    this.#likely = (place + 1) & (textsMax - 1);
    return this.#texts[place] ?? '';
  }

  #allocate(): void {
    this.#texts = Array.from({ length: textsMax }, () => '');
    this.#lengths = new Uint8Array(textsMax);
    this.#words = new Int32Array(textsMax * cachedTextWordsMax);
    this.#places = new Int32Array(textsMax);
  }

  #search(source: Words, from: number, to: number): number {
    if (this.#lengths.length === 0) this.#allocate();
    const hash = hashOf(source, from, to) & (textsMax - 1);
    const place = this.#places[hash] ?? 0;
    if (this.#isAt(place, source, from, to)) return place;
    const newPlace = this.#oldest;
    this.#oldest = (newPlace + 1) & (textsMax - 1);
    this.#places[hash] = newPlace;
    this.#store(newPlace, source, from, to);
    return newPlace;
  }

  #isAt(place: number, source: Words, from: number, to: number): boolean {
    if (this.#lengths[place] !== to - from) return false;
    let word = place * cachedTextWordsMax;
    let at = from;
    for (; at + 4 <= to; at += 4, word += 1) {
      if (this.#words[word] !== source.memory.getInt32(source.offset + at, true)) return false;
    }
    return at === to || this.#words[word] === lastWord(source, at, to);
  }

  #store(place: number, source: Words, from: number, to: number): void {
    let word = place * cachedTextWordsMax;
    let at = from;
    for (; at + 4 <= to; at += 4, word += 1) this.#words[word] = source.memory.getInt32(source.offset + at, true);
    // A string that fills its entry has no last word; writing one would overwrite the next entry.
    if (at < to) this.#words[word] = lastWord(source, at, to);
    this.#lengths[place] = to - from;
    this.#texts[place] = source.bytes.toString('utf8', from, to);
  }
}

interface Part<T> {
  readonly length: number;
  readonly words: Int32Array;
  readonly value: T;
}

/** Decoded parts of messages by their bytes: equal bytes share one value. */
export class PartInterner<T> {
  /** Allocated on first use. */
  #parts: (Part<T> | undefined)[] = [];

  get(source: Words, from: number, to: number): T | undefined {
    if (to - from > cachedPartBytesMax) return undefined;
    const known = this.#parts[hashOf(source, from, to) & (partsMax - 1)];
    return known !== undefined && known.length === to - from && isAt(known.words, source, from, to)
      ? known.value
      : undefined;
  }

  set(source: Words, from: number, to: number, value: T): void {
    if (to - from > cachedPartBytesMax) return;
    if (this.#parts.length === 0) this.#parts = Array.from({ length: partsMax }, () => undefined);
    const words = new Int32Array(Math.ceil((to - from) / 4));
    for (let at = from, place = 0; at < to; at += 4, place += 1) words[place] = wordAt(source, at, to);
    this.#parts[hashOf(source, from, to) & (partsMax - 1)] = { length: to - from, words, value };
  }
}

function isAt(known: Int32Array, source: Words, from: number, to: number): boolean {
  for (let at = from, place = 0; at < to; at += 4, place += 1) {
    if (known[place] !== wordAt(source, at, to)) return false;
  }
  return true;
}

function wordAt(source: Words, at: number, to: number): number {
  return at + 4 <= to ? source.memory.getInt32(source.offset + at, true) : lastWord(source, at, to);
}

/** FNV-1a, four bytes at a time, folded so that the low bits depend on all. */
function hashOf(source: Words, from: number, to: number): number {
  let hash = to - from;
  let at = from;
  for (; at + 4 <= to; at += 4) hash = mixed(hash, source.memory.getInt32(source.offset + at, true));
  hash = mixed(hash, lastWord(source, at, to));
  hash ^= hash >>> 15;
  return (hash ^ (hash >>> 7)) >>> 0;
}

function mixed(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x01000193);
  return product ^ (product >>> 13);
}

/** The up to three remaining bytes. */
function lastWord({ bytes }: Words, from: number, to: number): number {
  let word = 0;
  for (let at = from; at < to; at += 1) word = (word << 8) | (bytes[at] ?? 0);
  return word;
}
