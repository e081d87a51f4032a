/** A power of two. Enough for the names and uids of some ten thousand nodes. */
const textsMax = 65_536;
/** A power of two. Lists of labels or tolerations that many objects have in common are few. */
const partsMax = 8_192;
const cachedTextBytesMax = 64;
const cachedTextWordsMax = cachedTextBytesMax / 4;
const cachedPartBytesMax = 2_048;

/** Bytes, and the memory that they lie in, at `offset`, to be read as words. */
export interface Words {
  readonly bytes: Buffer;
  readonly memory: DataView;
  readonly offset: number;
}

/**
 * Texts by their UTF-8 bytes: what was read before is not made again. Texts lie in the order in which they came first, and
 * the one behind the last is looked at first: what comes again mostly comes in the same order, as heartbeats do, and then
 * nothing has to be searched for. The newcomer takes the place of the oldest, so the cache neither grows nor has to be
 * tidied.
 */
export class TextCache {
  readonly #texts: string[] = Array.from({ length: textsMax }, () => '');
  readonly #lengths = new Uint8Array(textsMax);
  readonly #words = new Int32Array(textsMax * cachedTextWordsMax);
  /** By hash; what lies there may be another text by now. */
  readonly #places = new Int32Array(textsMax);
  #likely = 0;
  #oldest = 0;

  read(source: Words, from: number, to: number): string {
    if (to - from > cachedTextBytesMax) return source.bytes.toString('utf8', from, to);
    const place = this.#isAt(this.#likely, source, from, to) ? this.#likely : this.#search(source, from, to);
    this.#likely = (place + 1) & (textsMax - 1);
    return this.#texts[place] ?? '';
  }

  #search(source: Words, from: number, to: number): number {
    const hash = hashOf(source, from, to) & (textsMax - 1);
    const place = this.#places[hash] ?? 0;
    if (this.#isAt(place, source, from, to)) return place;
    const newPlace = this.#oldest;
    this.#oldest = (newPlace + 1) & (textsMax - 1);
    this.#places[hash] = newPlace;
    this.#keep(newPlace, source, from, to);
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

  #keep(place: number, source: Words, from: number, to: number): void {
    let word = place * cachedTextWordsMax;
    let at = from;
    for (; at + 4 <= to; at += 4, word += 1) this.#words[word] = source.memory.getInt32(source.offset + at, true);
    // A text that fills its place has no last word, and what would be there belongs to the next.
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

/** What was made of a piece of a message, by its bytes: whoever has the same bytes gets the same value. */
export class PartCache<T> {
  readonly #parts: (Part<T> | undefined)[] = Array.from({ length: partsMax }, () => undefined);

  get(source: Words, from: number, to: number): T | undefined {
    if (to - from > cachedPartBytesMax) return undefined;
    const known = this.#parts[hashOf(source, from, to) & (partsMax - 1)];
    return known !== undefined && known.length === to - from && isAt(known.words, source, from, to)
      ? known.value
      : undefined;
  }

  set(source: Words, from: number, to: number, value: T): void {
    if (to - from > cachedPartBytesMax) return;
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

/** The up to three bytes that are left. */
function lastWord({ bytes }: Words, from: number, to: number): number {
  let word = 0;
  for (let at = from; at < to; at += 1) word = (word << 8) | (bytes[at] ?? 0);
  return word;
}
