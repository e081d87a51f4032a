/** Strings are names: of the nodes of a large cluster, and of its namespaces. */
export const internedStringsMax = 200_000;
export const internedStructuresMax = 20_000;
const internedCharsMax = 4_096;

/**
 * Keeps one copy of values that many objects have in common: a million pods share a few hundred toleration lists. Values
 * are compared by content; above {@link internedStringsMax} distinct strings, or {@link internedStructuresMax} distinct
 * structures, new ones are passed through.
 */
export class ValueInterner {
  readonly #strings = new Map<string, string>();
  readonly #structures = new Map<string, unknown>();
  readonly #kept = new WeakSet<object>();

  /** The first value equal to this one, or this one. */
  intern(value: unknown): unknown {
    if (typeof value === 'string') return remember(this.#strings, value, value, internedStringsMax);
    // A reader that shares values itself passes the very object that is kept here.
    if (typeof value !== 'object' || value === null || this.#kept.has(value)) return value;
    const first = remember(this.#structures, JSON.stringify(value), value, internedStructuresMax);
    if (first === value) this.#kept.add(value);
    return first;
  }

  get size(): number {
    return this.#strings.size + this.#structures.size;
  }
}

function remember<T>(known: Map<string, T>, text: string, value: T, knownMax: number): T {
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < knownMax && text.length <= internedCharsMax) known.set(text, value);
  return value;
}
