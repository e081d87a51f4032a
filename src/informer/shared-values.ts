/** Texts are names: of the nodes of a large cluster, and of its namespaces. */
export const sharedTextsMax = 200_000;
export const sharedStructuresMax = 20_000;
const sharedTextCharsMax = 4_096;

/**
 * Keeps one copy of values that most objects have in common: a million pods share a few hundred toleration lists. What
 * comes in is compared by its content; above {@link sharedTextsMax} distinct texts, or {@link sharedStructuresMax} distinct
 * structures, new ones are passed through.
 */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #structures = new Map<string, unknown>();
  readonly #kept = new WeakSet<object>();

  /** The first value equal to this one, or this one. */
  share(value: unknown): unknown {
    if (typeof value === 'string') return remember(this.#texts, value, value, sharedTextsMax);
    // A reader may share by itself: then it brings the very one that is kept here.
    if (typeof value !== 'object' || value === null || this.#kept.has(value)) return value;
    const first = remember(this.#structures, JSON.stringify(value), value, sharedStructuresMax);
    if (first === value) this.#kept.add(value);
    return first;
  }

  get size(): number {
    return this.#texts.size + this.#structures.size;
  }
}

function remember<T>(known: Map<string, T>, text: string, value: T, knownMax: number): T {
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < knownMax && text.length <= sharedTextCharsMax) known.set(text, value);
  return value;
}
