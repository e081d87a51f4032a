export const sharedValuesMax = 20_000;
const sharedTextCharsMax = 4_096;

/**
 * Keeps one copy of values that most objects have in common: a million pods share a few hundred toleration lists. What
 * comes in is compared by its content; above {@link sharedValuesMax} distinct values new ones are passed through.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #structures = new Map<string, unknown>();
  readonly #kept = new WeakSet<object>();

  /** The first value equal to this one, or this one. */
  share(value: unknown): unknown {
    if (typeof value === 'string') return remember(this.#texts, value, value);
    // A reader may share by itself: then it brings the very one that is kept here.
    if (typeof value !== 'object' || value === null || this.#kept.has(value)) return value;
    const first = remember(this.#structures, JSON.stringify(value), value);
    if (first === value) this.#kept.add(value);
    return first;
  }

  get size(): number {
    return this.#texts.size + this.#structures.size;
  }
}

function remember<T>(known: Map<string, T>, text: string, value: T): T {
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < sharedValuesMax && text.length <= sharedTextCharsMax) known.set(text, value);
  return value;
}
