import { sortKeys } from '../../../machinery/api/json-map.ts';
import { stringifyExact } from './parse-exact-json.ts';
import { findStrictProblems } from './find-strict-problems.ts';

/** The text of a request body, for what its value no longer shows: fields that occur twice, and the order of fields. */
export class BodySource {
  readonly #value: unknown;
  readonly #text: string | undefined;
  readonly #repeatedKeys: readonly string[];

  private constructor(value: unknown, text: string | undefined, repeatedKeys: readonly string[]) {
    this.#value = value;
    this.#text = text;
    this.#repeatedKeys = repeatedKeys;
  }

  /** `value` is that of the JSON text. */
  static ofJson(text: string, value: unknown): BodySource {
    return new BodySource(value, text, []);
  }

  /** `repeatedKeys` are the messages about the keys of the document. */
  static ofYaml(value: unknown, repeatedKeys: readonly string[]): BodySource {
    return new BodySource(value, undefined, repeatedKeys);
  }

  /** The messages of a strict decoding into a message; without one, of a decoding into an object of any type. */
  problems(message: string | undefined, unknown: readonly string[]): readonly string[] {
    // A text that is written as this process writes the value has no field twice.
    if (unknown.length === 0 && (this.#text === undefined || stringifyExact(this.#value) === this.#text)) {
      return this.#repeatedKeys;
    }
    // As upstream, which converts YAML to JSON by way of a map: its keys are sorted.
    const found = findStrictProblems(this.#text ?? stringifyExact(sortKeys(this.#value)), message);
    const others = message === undefined ? unknown.map(describeUnknown) : [];
    return [...this.#repeatedKeys, ...found, ...others];
  }
}

/** The message about a field that the kind does not have. */
export function describeUnknown(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}
