import {
  type Document,
  isAlias,
  isMap as isMapping,
  isPair,
  isScalar,
  isSeq,
  type LineCounter,
  type Pair,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { isMap, setOwn } from '../api/json-map.ts';
import { depthMax, repeatedMax, type RepeatedKey } from './json-reader.ts';

/** A text that is not YAML, or more than is read. */
export class YamlProblem extends Error {}

/** Maximum number of values of a document, aliases expanded. */
const valuesMax = 100_000;
const utf8 = new TextDecoder();

type MutableMap = Record<string, unknown>;

/**
 * The value of one document, in linear time, as go-yaml makes it: a key `<<` merges the mappings under it, what comes later
 * in a mapping takes precedence, and aliases are copies. Throws a {@link YamlProblem}.
 */
export class ValueBuilder {
  readonly repeated: RepeatedKey[] = [];
  readonly #lines: LineCounter;
  readonly #integer: (value: bigint) => unknown;
  /** The values of the anchors so far. */
  readonly #anchors = new Map<string, unknown>();
  #count = 0;

  /** `integer` makes the value of an integer. */
  constructor(lines: LineCounter, integer: (value: bigint) => unknown) {
    this.#lines = lines;
    this.#integer = integer;
  }

  build(node: unknown, depth = 0): unknown {
    this.#enter(depth);
    if (isAlias(node)) return this.#copy(this.#anchored(node.source), depth);
    const value = this.#contentOf(node, depth + 1);
    if ((isScalar(node) || isMapping(node) || isSeq(node)) && node.anchor !== undefined) {
      this.#anchors.set(node.anchor, value);
    }
    return value;
  }

  #enter(depth: number): void {
    this.#count += 1;
    if (this.#count > valuesMax) throw new YamlProblem(`document contains more than ${valuesMax} values`);
    if (depth > depthMax) throw new YamlProblem(`exceeded max depth of ${depthMax}`);
  }

  #anchored(name: string): unknown {
    if (this.#anchors.has(name)) return this.#anchors.get(name);
    throw new YamlProblem(`unknown anchor '${name}' referenced`);
  }

  #contentOf(node: unknown, depth: number): unknown {
    if (isScalar(node)) return this.#scalarOf(node);
    if (isMapping(node)) return this.#mapping(node, depth);
    // An ordered map is a list of pairs.
    if (isPair(node)) return this.#entry({}, new Set(), node, depth);
    return isSeq(node) ? node.items.map((item) => this.build(item, depth)) : null;
  }

  #scalarOf({ value }: Scalar): unknown {
    if (typeof value === 'bigint') return this.#integer(value);
    return value instanceof Uint8Array ? utf8.decode(value) : (value ?? null);
  }

  #mapping({ items }: YAMLMap, depth: number): MutableMap {
    const map: MutableMap = {};
    const keys = new Set<string>();
    for (const pair of items) this.#entry(map, keys, pair, depth);
    return map;
  }

  #entry(map: MutableMap, keys: Set<string>, pair: Pair, depth: number): MutableMap {
    if (isMergeKey(pair.key)) {
      this.#merge(map, pair.value, depth);
      return map;
    }
    const key = this.#keyOf(pair.key, depth);
    if (keys.has(key) && this.repeated.length < repeatedMax) {
      this.repeated.push({ key, line: this.#lineOf(pair.key) });
    }
    keys.add(key);
    setOwn(map, key, this.build(pair.value, depth));
    return map;
  }

  #lineOf(node: unknown): number {
    return this.#lines.linePos((isScalar(node) || isAlias(node) ? node.range?.[0] : undefined) ?? 0).line;
  }

  #keyOf(node: unknown, depth: number): string {
    const key = this.build(node, depth);
    if (['string', 'number', 'boolean', 'bigint'].includes(typeof key)) return String(key);
    throw new YamlProblem('invalid map key: must be a string, a number or a boolean');
  }

  /** Merges mappings into the map; of several, the earlier ones take precedence. */
  #merge(map: MutableMap, source: unknown, depth: number): void {
    for (const item of isSeq(source) ? source.items.toReversed() : [source]) {
      const merged = this.build(item, depth);
      if (!isMap(merged)) throw new YamlProblem('map merge requires map or sequence of maps as the value');
      for (const [key, value] of Object.entries(merged)) setOwn(map, key, value);
    }
  }

  #copy(value: unknown, depth: number): unknown {
    this.#enter(depth);
    if (Array.isArray(value)) return value.map((item: unknown) => this.#copy(item, depth + 1));
    if (!isMap(value)) return value;
    const copy: MutableMap = {};
    for (const [key, item] of Object.entries(value)) setOwn(copy, key, this.#copy(item, depth + 1));
    return copy;
  }
}

function isMergeKey(node: unknown): boolean {
  return isScalar(node) && node.type === Scalar.PLAIN && node.source === '<<';
}

/** Whether a document is empty, for example after the last `---`. */
export function isEmpty({ contents, errors }: Document.Parsed): boolean {
  return errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null));
}
