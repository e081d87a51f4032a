import { ApiError } from '../api/api-error.ts';
import { isMap } from '../api/json-map.ts';
import type { KubeObject, ListMeta } from '../api/meta.ts';
import { ChunkBuffer, ChunkTooLongError } from './chunk-buffer.ts';
import type { ListDecoder, ListTakers } from './wire-format.ts';

const itemBytesMax = 16 * 1024 * 1024;
/** The list without its items takes a few hundred bytes. */
export const frameBytesMax = 1024 * 1024;

/** Structural meaning of a byte; all other bytes are `none`. */
const kinds = { none: 0, quote: 1, backslash: 2, opening: 3, closing: 4, comma: 5 } as const;
const openingBracket = 0x5b;
const insideStrings = kindTable({ '"': kinds.quote, '\\': kinds.backslash });
const outsideStrings = kindTable({
  '"': kinds.quote,
  '{': kinds.opening,
  '[': kinds.opening,
  '}': kinds.closing,
  ']': kinds.closing,
  ',': kinds.comma,
});

/**
 * A JSON list, decoded item by item: the bytes are split at the commas of the array `items` of the outermost object, each
 * item is parsed by itself, and the rest is parsed at the end. The list is never held as one text, and every byte except
 * those commas goes through JSON.parse.
 */
export class JsonListDecoder implements ListDecoder {
  readonly #takers: ListTakers;
  /** The bytes around the items, one character per byte; the array in between is empty. */
  #frame = '';
  readonly #item = new ChunkBuffer();
  #section: 'before' | 'items' | 'behind' = 'before';
  #itemsTaken = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(takers: ListTakers) {
    this.#takers = takers;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#escaped) this.#escaped = false;
      else {
        const kind = (this.#inString ? insideStrings : outsideStrings)[chunk[at] ?? 0];
        if (kind !== kinds.none) from = this.#handleByte(chunk, from, at);
      }
    }
    this.#retain(chunk.subarray(from));
  }

  /** Throws an ApiError `internal` if the response is not a list. */
  end(): ListMeta {
    const list = parseJson(Buffer.from(this.#frame, 'latin1').toString('utf8'), 'the response');
    if (!isMap(list) || !isMap(list['metadata']) || !isItems(list['items'])) {
      throw new ApiError({ reason: 'internal', message: 'the response is not an API list' });
    }
    // If the array's name is escaped in the JSON, its items were not split off and are still in the array.
    for (const item of list['items'] ?? []) this.#takers.take(item);
    return list['metadata'];
  }

  /** Handles a structural byte. Bytes from `from` on have not been kept; returns the new `from`. */
  #handleByte(chunk: Buffer, from: number, at: number): number {
    const kind = (this.#inString ? insideStrings : outsideStrings)[chunk[at] ?? 0];
    if (kind === kinds.quote) this.#inString = !this.#inString;
    else if (kind === kinds.backslash) this.#escaped = true;
    else if (kind === kinds.comma) return this.#isBetweenItems(2) ? this.#endItem(chunk, from, at) : from;
    else return kind === kinds.closing ? this.#close(chunk, from, at) : this.#open(chunk, from, at);
    return from;
  }

  #open(chunk: Buffer, from: number, at: number): number {
    this.#depth += 1;
    return this.#section === 'before' && this.#depth === 2 ? this.#openInside(chunk, from, at) : from;
  }

  #close(chunk: Buffer, from: number, at: number): number {
    this.#depth -= 1;
    return this.#isBetweenItems(1) ? this.#closeItems(chunk, from, at) : from;
  }

  #isBetweenItems(depth: number): boolean {
    return this.#section === 'items' && this.#depth === depth;
  }

  /** An object or array opens inside the outermost object: the items, if the text before it is their name. */
  #openInside(chunk: Buffer, from: number, at: number): number {
    this.#retain(chunk.subarray(from, at + 1));
    if (chunk[at] === openingBracket && /(?<!\\)"items"\s*:\s*\[$/.test(this.#frame.slice(-nameCharsMax))) {
      this.#section = 'items';
    }
    return at + 1;
  }

  #endItem(chunk: Buffer, from: number, at: number): number {
    this.#retain(chunk.subarray(from, at));
    this.#parse(this.#item.take().toString('utf8'));
    return at + 1;
  }

  /** The list may be empty; a trailing comma is invalid. */
  #closeItems(chunk: Buffer, from: number, at: number): number {
    this.#retain(chunk.subarray(from, at));
    const text = this.#item.take().toString('utf8');
    if (this.#itemsTaken > 0 || /[^ \t\n\r]/.test(text)) this.#parse(text);
    this.#section = 'behind';
    return at;
  }

  #parse(text: string): void {
    this.#itemsTaken += 1;
    const item = parseItem(text);
    if (item === undefined) this.#takers.skip({ metadata: undefined, problem: 'an item of the list is not JSON' });
    else this.#takers.take(item);
  }

  #retain(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#section === 'items') {
      this.#item.add(bytes);
      if (this.#item.bytes > itemBytesMax) throw new ChunkTooLongError(`an item of more than ${itemBytesMax} bytes`);
    } else {
      this.#frame += bytes.toString('latin1');
      if (this.#frame.length > frameBytesMax) {
        throw new ChunkTooLongError(`a list of more than ${frameBytesMax} bytes without its items`);
      }
    }
  }
}

/** Maximum length of the name, its colon and white space. */
const nameCharsMax = 64;

function kindTable(meanings: Readonly<Record<string, number>>): Uint8Array {
  const table = new Uint8Array(256);
  for (const [character, kind] of Object.entries(meanings)) table[character.charCodeAt(0)] = kind;
  return table;
}

/** Undefined if it is not JSON. The caller validates the item. */
function parseItem(text: string): KubeObject | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An empty list may be null. */
function isItems(value: unknown): value is KubeObject[] | null {
  return Array.isArray(value) || value === null;
}

/** Throws an ApiError `internal`; `what` names the text in the message. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError({ reason: 'internal', message: `${what} is not JSON`, cause });
  }
}
