import { isAbsent, isMap, type JsonMap, ownValue, setOwn } from './json-map.ts';
import { cutText, limitList, listLimits, valueCharsMax } from './limits.ts';
import { parseTimestamp } from './timestamps.ts';
import { type Labels, nodeLabels } from './topology.ts';

const shownCharsMax = 60;
/** Problems of one object that are recorded: every item of a long list may have one. */
export const problemsMax = 32;

/**
 * Reads fields of a decoded object of unknown shape. A field of the wrong type is read as empty and recorded as a
 * validation problem: the field, what was there, and what is accepted. No method throws.
 */
export class FieldReader {
  #problems: string[] | undefined;

  /** Undefined if every field was valid. */
  get problems(): readonly string[] | undefined {
    return this.#problems;
  }

  /** Records a value of the right type that is not accepted. */
  refuse(field: string, value: unknown, accepted: string): void {
    this.#addProblem(field, value, accepted);
  }

  /** A value that is compared or written back: whole, or empty if it is longer than {@link valueCharsMax}. */
  text(field: string, value: unknown): string {
    if (typeof value === 'string' && value.length <= valueCharsMax) return value;
    if (!isAbsent(value)) this.#addProblem(field, value, `a string${limitText(value)}`);
    return '';
  }

  /** Text of a field that must be present; otherwise as {@link text}. */
  requiredText(field: string, value: unknown): string {
    if (typeof value === 'string' && value !== '' && value.length <= valueCharsMax) return value;
    this.#addProblem(field, value, `a non-empty string${limitText(value)}`);
    return '';
  }

  /** A text that is shown: its beginning if it is long ({@link cutText}). */
  shownText(field: string, value: unknown): string {
    if (typeof value === 'string') return cutText(value);
    return this.text(field, value);
  }

  /** Milliseconds since the epoch. */
  time(field: string, value: unknown): number | undefined {
    if (isAbsent(value)) return undefined;
    const ms = parseTimestamp(value);
    if (ms === undefined) this.#addProblem(field, value, 'an RFC 3339 time');
    return ms;
  }

  /**
   * The items of a list, with unreadable times replaced by `instead`: the API server would reject the list if it were
   * written back with them. Returns the same list if all times can be read.
   */
  replaceUnreadableTimes<T extends object>(
    field: string,
    items: readonly T[],
    times: readonly (keyof T & string)[],
    replacement: null | undefined,
  ): readonly T[] {
    if (items.every((item) => times.every((name) => isTimeOrAbsent(item[name])))) return items;
    return items.map((item, index) => {
      const unreadable = times.filter((name) => !isTimeOrAbsent(item[name]));
      for (const name of unreadable) this.time(`${field}[${index}].${name}`, item[name]);
      return { ...item, ...Object.fromEntries(unreadable.map((name) => [name, replacement])) };
    });
  }

  flag(field: string, value: unknown): boolean {
    if (!isAbsent(value) && typeof value !== 'boolean') this.#addProblem(field, value, 'true or false');
    return value === true;
  }

  whole(field: string, value: unknown): number | undefined {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
    if (!isAbsent(value)) this.#addProblem(field, value, 'a whole number');
    return undefined;
  }

  part(field: string, value: unknown): JsonMap {
    if (isMap(value)) return value;
    if (!isAbsent(value)) this.#addProblem(field, value, 'an object');
    return {};
  }

  /** A string map. Returns the same object if all values are strings. */
  labels(field: string, value: unknown): Labels {
    const map = this.#limitedMap(field, this.part(field, value));
    if (isLabels(map)) return map;
    const texts: Record<string, string> = {};
    for (const [name, text] of Object.entries(map)) {
      if (typeof text === 'string') setOwn(texts, name, text);
      else this.#addProblem(`${field}[${JSON.stringify(name)}]`, text, 'a string');
    }
    return texts;
  }

  #limitedMap(field: string, map: JsonMap): JsonMap {
    const names = Object.keys(map);
    if (names.length <= listLimits.labels) return map;
    const used = this.limited(field, names, listLimits.labels, (name) => nodeLabels.includes(name));
    return Object.fromEntries(used.map((name) => [name, ownValue(map, name)]));
  }

  /**
   * The objects of a list; other items are dropped. `texts` are fields that must be strings if present; one that is not
   * is recorded, and the item is kept as received, because it may be written back.
   */
  items<T extends object>(field: string, value: unknown, texts: readonly (keyof T & string)[]): readonly T[] {
    if (isAbsent(value)) return [];
    if (!Array.isArray(value)) {
      this.#addProblem(field, value, 'a list');
      return [];
    }
    const list: readonly unknown[] = value;
    const isItem = (item: unknown, index: number): item is T => this.#isItem(item, texts, field, index);
    const items = list.filter(isItem);
    // The same list if it is valid: many objects may share one.
    return isComplete(items, list) ? list : items;
  }

  /** The items that are used of a list: the first, and of those beyond the limit the ones that are named. */
  limited<T>(field: string, items: readonly T[], max: number, isNamed: (item: T) => boolean): readonly T[] {
    if (items.length > max) this.#record(field, `a list of at most ${max} items`, 'more');
    return limitList(items, max, isNamed);
  }

  #isItem(item: unknown, texts: readonly string[], field: string, index: number): boolean {
    if (!isMap(item)) {
      this.#addProblem(`${field}[${index}]`, item, 'an object');
      return false;
    }
    for (const name of texts)
      if (!isTextOrAbsent(ownValue(item, name))) this.text(`${field}[${index}].${name}`, ownValue(item, name));
    return true;
  }

  #addProblem(field: string, value: unknown, accepted: string): void {
    this.#record(field, accepted, formatValue(value));
  }

  #record(field: string, accepted: string, got: string): void {
    this.#problems ??= [];
    if (this.#problems.length < problemsMax)
      this.#problems.push(`${cutText(field)}${mustBe}${accepted}${gotMark}${got})`);
  }
}

const mustBe = ': must be ';
const gotMark = ' (got ';

/** A problem recorded by a {@link FieldReader} without the value: the field and what is accepted. */
export function problemKind(problem: string): string {
  const mustBeAt = problem.indexOf(mustBe);
  const gotAt = problem.indexOf(gotMark, mustBeAt);
  return mustBeAt < 0 || gotAt < 0 ? problem : problem.slice(0, gotAt);
}

function isComplete<T>(items: readonly T[], list: readonly unknown[]): list is readonly T[] {
  return items.length === list.length;
}

function limitText(value: unknown): string {
  return typeof value === 'string' && value !== '' ? ` of at most ${valueCharsMax} characters` : '';
}

function isTimeOrAbsent(value: unknown): boolean {
  return isAbsent(value) || parseTimestamp(value) !== undefined;
}

function isTextOrAbsent(value: unknown): boolean {
  return isAbsent(value) || typeof value === 'string';
}

function isLabels(map: JsonMap): map is Labels {
  return Object.values(map).every((text) => typeof text === 'string');
}

function formatValue(value: unknown): string {
  return cutText(value === undefined ? 'nothing' : JSON.stringify(value), shownCharsMax);
}
