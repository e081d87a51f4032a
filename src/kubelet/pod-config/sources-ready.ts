import type { PodSourceName, PodUpdate } from './pod-update.ts';

/** Which sources the mux has heard of, and which have given it everything they have at least once. */
export interface SourcesSeen {
  /** Every configured source has sent a SET, and is among those that the loop has heard of. */
  seenAllSources(heard: ReadonlySet<PodUpdate['source']>): boolean;
}

/**
 * May pods that are no longer wanted be stopped? Only when every source has been heard, or a source that is late would
 * look as if it had lost all its pods (kubelet `config.sourcesImpl`).
 */
export class SourcesReady {
  readonly #config: SourcesSeen;
  readonly #heard = new Set<PodUpdate['source']>();

  constructor(config: SourcesSeen) {
    this.#config = config;
  }

  /** An update of this source has been dispatched, whatever was in it. */
  addSource(source: PodSourceName | PodUpdate['source']): void {
    this.#heard.add(source);
  }

  /** True when no source is configured. */
  allReady(): boolean {
    return this.#config.seenAllSources(this.#heard);
  }
}
