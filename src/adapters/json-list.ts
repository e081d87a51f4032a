import { ApiError } from '../api/api-error.ts';
import type { KubeObject, ListMeta } from '../api/meta.ts';
import { isJsonObject, parseJson } from './json-text.ts';
import { PieceTooLongError } from './piece-gatherer.ts';
import type { ListDecoder } from './wire-format.ts';

export const itemBytesMax = 16 * 1024 * 1024;
/** What a list says apart from its items takes a few hundred bytes. */
export const frameBytesMax = 1024 * 1024;

/** What a byte means where it stands; all others mean nothing to us. */
const kinds = { none: 0, quote: 1, backslash: 2, opening: 3, closing: 4, comma: 5 } as const;
const openingBracket = 0x5b;
const inTexts = kindTable({ '"': kinds.quote, '\\': kinds.backslash });
const outsideOfTexts = kindTable({
  '"': kinds.quote,
  '{': kinds.opening,
  '[': kinds.opening,
  '}': kinds.closing,
  ']': kinds.closing,
  ',': kinds.comma,
});

/**
 * A list in JSON, item by item: the bytes are split where the array `items` of the outermost object has its commas, each
 * item is parsed by itself, and what is around them is parsed at the end. The whole is never one text, and there is no
 * byte that JSON's own parser does not see, but for those commas.
 */
export class JsonListDecoder implements ListDecoder {
  readonly #take: (item: KubeObject) => unknown;
  /** What is around the items, a character a byte; between them the array is empty. */
  #frame = '';
  #item: Buffer[] = [];
  #itemBytes = 0;
  #place: 'before' | 'items' | 'behind' = 'before';
  #itemsTaken = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;

  constructor(take: (item: KubeObject) => unknown) {
    this.#take = take;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#escaped) this.#escaped = false;
      else {
        const kind = (this.#inText ? inTexts : outsideOfTexts)[chunk[at] ?? 0];
        if (kind !== kinds.none) from = this.#look(chunk, from, at);
      }
    }
    this.#keep(chunk.subarray(from));
  }

  /** Throws an ApiError `internal` where this is no list. */
  end(): ListMeta {
    const list = parseJson(Buffer.from(this.#frame, 'latin1').toString('utf8'), 'the answer');
    if (!isJsonObject(list) || !isJsonObject(list['metadata']) || !isItems(list['items'])) {
      throw new ApiError({ reason: 'internal', message: 'the answer is not a list of the API' });
    }
    // Where the name of the array is written in an unusual way, it is still in there.
    for (const item of list['items'] ?? []) this.#take(item);
    return list['metadata'];
  }

  /** A byte that means something. What is from `from` on has not been kept; returns from where it has not been then. */
  #look(chunk: Buffer, from: number, at: number): number {
    const kind = (this.#inText ? inTexts : outsideOfTexts)[chunk[at] ?? 0];
    if (kind === kinds.quote) this.#inText = !this.#inText;
    else if (kind === kinds.backslash) this.#escaped = true;
    else if (kind === kinds.comma) return this.#isBetweenItems(2) ? this.#endItem(chunk, from, at) : from;
    else return kind === kinds.closing ? this.#close(chunk, from, at) : this.#open(chunk, from, at);
    return from;
  }

  #open(chunk: Buffer, from: number, at: number): number {
    this.#depth += 1;
    return this.#place === 'before' && this.#depth === 2 ? this.#openInside(chunk, from, at) : from;
  }

  #close(chunk: Buffer, from: number, at: number): number {
    this.#depth -= 1;
    return this.#isBetweenItems(1) ? this.#closeItems(chunk, from, at) : from;
  }

  #isBetweenItems(depth: number): boolean {
    return this.#place === 'items' && this.#depth === depth;
  }

  /** Something opens inside of the outermost object: the items, if that is what the text before it says. */
  #openInside(chunk: Buffer, from: number, at: number): number {
    this.#keep(chunk.subarray(from, at + 1));
    if (chunk[at] === openingBracket && /(?<!\\)"items"\s*:\s*\[$/.test(this.#frame.slice(-nameCharsMax))) {
      this.#place = 'items';
    }
    return at + 1;
  }

  #endItem(chunk: Buffer, from: number, at: number): number {
    this.#keep(chunk.subarray(from, at));
    const [first = Buffer.alloc(0)] = this.#item;
    const bytes = this.#item.length <= 1 ? first : Buffer.concat(this.#item, this.#itemBytes);
    this.#item = [];
    this.#itemBytes = 0;
    this.#parse(bytes.toString('utf8'));
    return at + 1;
  }

  /** The list may be empty; a comma may not be the last thing in it. */
  #closeItems(chunk: Buffer, from: number, at: number): number {
    this.#keep(chunk.subarray(from, at));
    const empty = this.#itemsTaken === 0 && Buffer.concat(this.#item).toString('latin1').trim() === '';
    if (!empty) this.#endItem(chunk, at, at);
    this.#place = 'behind';
    return at;
  }

  #parse(text: string): void {
    this.#itemsTaken += 1;
    this.#take(parseItem(text));
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#place === 'items') {
      this.#item.push(bytes);
      this.#itemBytes += bytes.length;
      if (this.#itemBytes > itemBytesMax) throw new PieceTooLongError(`an item of more than ${itemBytesMax} bytes`);
    } else {
      this.#frame += bytes.toString('latin1');
      if (this.#frame.length > frameBytesMax) {
        throw new PieceTooLongError(`a list that says more than ${frameBytesMax} bytes apart from its items`);
      }
    }
  }
}

/** Of a name, its colon and the blanks around it. */
const nameCharsMax = 64;

function kindTable(meanings: Readonly<Record<string, number>>): Uint8Array {
  const table = new Uint8Array(256);
  for (const [character, kind] of Object.entries(meanings)) table[character.charCodeAt(0)] = kind;
  return table;
}

/** What it is is looked at where it is read. */
function parseItem(text: string): KubeObject {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: 'an item of the list is not JSON', cause });
  }
}

/** An empty list may come as null. */
function isItems(value: unknown): value is KubeObject[] | null {
  return Array.isArray(value) || value === null;
}
