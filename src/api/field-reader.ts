import { parseTimestamp } from './timestamps.ts';
import type { Labels } from './topology.ts';

const shownMax = 60;

/**
 * Reads fields of an object as it arrived, whatever arrived. What is of the wrong type becomes empty and is noted: the
 * field, what was there, and what is accepted. Nothing here throws.
 */
export class FieldReader {
  #flaws: string[] | undefined;

  /** Undefined where everything was as it should be. */
  get flaws(): readonly string[] | undefined {
    return this.#flaws;
  }

  /** Notes what is of the right type and still not accepted. */
  refuse(field: string, value: unknown, accepted: string): void {
    this.#note(field, value, accepted);
  }

  text(field: string, value: unknown): string {
    if (typeof value === 'string') return value;
    if (!isAbsent(value)) this.#note(field, value, 'a text');
    return '';
  }

  neededText(field: string, value: unknown): string {
    if (typeof value === 'string' && value !== '') return value;
    this.#note(field, value, 'a text that is not empty');
    return '';
  }

  /** Milliseconds since the epoch. */
  time(field: string, value: unknown): number | undefined {
    if (isAbsent(value)) return undefined;
    const ms = parseTimestamp(value);
    if (ms === undefined) this.#note(field, value, 'an RFC 3339 time');
    return ms;
  }

  flag(field: string, value: unknown): boolean {
    if (!isAbsent(value) && typeof value !== 'boolean') this.#note(field, value, 'true or false');
    return value === true;
  }

  whole(field: string, value: unknown): number | undefined {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
    if (!isAbsent(value)) this.#note(field, value, 'a whole number');
    return undefined;
  }

  part(field: string, value: unknown): Readonly<Record<string, unknown>> {
    if (isMap(value)) return value;
    if (!isAbsent(value)) this.#note(field, value, 'an object');
    return {};
  }

  /** Names to texts. Where all are, it is the same object. */
  labels(field: string, value: unknown): Labels {
    const map = this.part(field, value);
    if (isLabels(map)) return map;
    const texts: Record<string, string> = {};
    for (const [name, text] of Object.entries(map)) {
      if (typeof text === 'string') texts[name] = text;
      else this.#note(`${field}[${JSON.stringify(name)}]`, text, 'a text');
    }
    return texts;
  }

  /**
   * The objects of a list; what is none is left out. `texts` are fields that should be texts where they are there; where
   * they are not it is told, and the object is kept as it came: it may have to go back as it came.
   */
  items<T extends object>(field: string, value: unknown, texts: readonly (keyof T & string)[]): readonly T[] {
    if (isAbsent(value)) return [];
    if (!Array.isArray(value)) {
      this.#note(field, value, 'a list');
      return [];
    }
    const list: readonly unknown[] = value;
    const isItem = (item: unknown, place: number): item is T => this.#isItem(item, texts, field, place);
    const items = list.filter(isItem);
    // The list itself where it is all right: many objects may have the same one.
    return isWhole(items, list) ? list : items;
  }

  #isItem(item: unknown, texts: readonly string[], field: string, place: number): boolean {
    if (!isMap(item)) {
      this.#note(`${field}[${place}]`, item, 'an object');
      return false;
    }
    for (const name of texts) if (!isTextOrAbsent(item[name])) this.text(`${field}[${place}].${name}`, item[name]);
    return true;
  }

  #note(field: string, value: unknown, accepted: string): void {
    this.#flaws ??= [];
    this.#flaws.push(`${field}: got ${shown(value)}; accepted: ${accepted}`);
  }
}

function isWhole<T>(items: readonly T[], list: readonly unknown[]): list is readonly T[] {
  return items.length === list.length;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isTextOrAbsent(value: unknown): boolean {
  return isAbsent(value) || typeof value === 'string';
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLabels(map: Readonly<Record<string, unknown>>): map is Labels {
  return Object.values(map).every((text) => typeof text === 'string');
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}
