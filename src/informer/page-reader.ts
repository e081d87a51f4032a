import type { KubeObject } from '../api/meta.ts';
import type { ResourceName } from '../api/resources.ts';
import type { KubeReader, ListOptions, Selection } from '../ports/kube-reader.ts';

export const pageObjects = 500;

export interface PageReaderOptions {
  readonly api: KubeReader;
  readonly resource: ResourceName;
  readonly selection: Selection;
  readonly signal: AbortSignal;
}

export interface PageTake {
  readonly paged: boolean;
  /** Called for each object: page by page, or one by one as they arrive where there is but one page. */
  readonly take: (item: KubeObject) => void;
  /** Called for each page. */
  readonly heard: () => void;
}

/** Reads one complete state, a page after the other, at one version of the server's choosing: the newest. */
export class PageReader {
  readonly #options: PageReaderOptions;
  #pagesRead = 0;

  constructor(options: PageReaderOptions) {
    this.#options = options;
  }

  /** How far a reading got that then failed. */
  get pagesRead(): number {
    return this.#pagesRead;
  }

  /** The version of the state. Rejects with an ApiError; the pages before it have been taken by then. */
  async read({ paged, take, heard }: PageTake): Promise<string> {
    const { api, resource, selection, signal } = this.#options;
    const first: ListOptions = { ...selection, ...(paged ? { limit: pageObjects } : {}) };
    // A page that breaks off is read again by the transport, which what has been taken one by one cannot be.
    const taking = paged ? {} : { each: take };
    for (let next = first; ; ) {
      const page = await api.list(resource, { ...next, ...taking, signal });
      heard();
      for (const item of page.items) take(item);
      this.#pagesRead += 1;
      const token = page.metadata.continue ?? '';
      if (token === '') return page.metadata.resourceVersion ?? '';
      next = { ...first, continue: token };
    }
  }
}
