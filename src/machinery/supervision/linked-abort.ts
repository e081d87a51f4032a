import { abortReason } from './abort-reason.ts';

/** Aborts with any parent signal, or by {@link abort}. {@link release} removes its listeners. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];

  constructor(...parents: readonly AbortSignal[]) {
    this.#parents = parents;
    for (const parent of parents) parent.addEventListener('abort', this.abort);
    if (parents.some((parent) => parent.aborted)) this.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  readonly abort = (): void => this.#controller.abort(abortReason);

  release(): void {
    for (const parent of this.#parents) parent.removeEventListener('abort', this.abort);
  }
}
