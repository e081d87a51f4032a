import type { Change } from './informer.ts';

export type Listener<T> = (change: Change<T>) => void;

export interface ListenersOptions {
  /** Told what a listener threw. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/** Those who want to hear of changes. One that throws misses only the change it threw at, and nobody else misses any. */
export class Listeners<T> {
  readonly #members = new Set<{ readonly listener: Listener<T> }>();
  /** The same, as a list that whoever goes through it may keep. */
  #inOrder: readonly { readonly listener: Listener<T> }[] = [];
  readonly #onError: (error: unknown) => void;

  constructor(options: ListenersOptions) {
    this.#onError = options.onError;
  }

  /** Tells the newcomer what there is, then lets it in. Returns the way to leave. */
  join(listener: Listener<T>, past: Iterable<Change<T>>): () => void {
    const member = { listener };
    for (const change of past) this.#tell(listener, change);
    this.#members.add(member);
    this.#inOrder = [...this.#members];
    return () => {
      this.#members.delete(member);
      this.#inOrder = [...this.#members];
    };
  }

  /**
   * Each change to every member, in order. Who joins meanwhile has been told of the state that these changes led to, so
   * it is left out; who leaves meanwhile hears no more.
   */
  announce(changes: Iterable<Change<T>>): void {
    const members = this.#inOrder;
    for (const change of changes) {
      for (const member of members) {
        if (this.#members.has(member)) this.#tell(member.listener, change);
      }
    }
  }

  #tell(listener: Listener<T>, change: Change<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#onError(error);
    }
  }
}
