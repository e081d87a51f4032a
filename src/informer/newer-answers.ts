interface Named {
  readonly name: string;
  readonly resourceVersion: string;
}

interface Answer<T> {
  readonly view: T;
  /** Versions that the watch may still show and that are older than the answer; undefined is no object at all. */
  readonly superseded: ReadonlySet<string | undefined>;
}

/**
 * Objects as the API server has them, including what it told us directly: between the answer to a write, or to a live
 * read, and the watch that brings the same, the answer stands in. Without it a decision taken in that moment would be
 * taken twice, or on what we know to be past.
 */
export class NewerAnswers<T extends Named> {
  readonly #fromStore: (name: string) => T | undefined;
  readonly #answers = new Map<string, Answer<T>>();

  constructor(fromStore: (name: string) => T | undefined) {
    this.#fromStore = fromStore;
  }

  get(name: string): T | undefined {
    const seen = this.#fromStore(name);
    const answer = this.#answers.get(name);
    if (answer === undefined) return seen;
    if (answer.superseded.has(seen?.resourceVersion)) return answer.view;
    this.#answers.delete(name);
    return seen;
  }

  /** `view` is what the server has now; it has replaced what `before` showed, which may be nothing. */
  remember(before: T | undefined, view: T): void {
    if (view.resourceVersion === before?.resourceVersion) return;
    const earlier = this.#answers.get(view.name)?.superseded ?? [];
    this.#answers.set(view.name, { view, superseded: new Set([...earlier, before?.resourceVersion]) });
  }
}
