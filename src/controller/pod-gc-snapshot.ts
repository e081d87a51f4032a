// The pod garbage collector at this moment, for whoever explains it. Nothing is remembered here.
import type { UnconfirmedReason } from './decisions.ts';
import type { PodView } from '../api/pod.ts';
import { deriveCollectionFacts, deriveFinished } from './derive-collection-facts.ts';
import type { CollectionFacts, PodGcFacts } from './explain/facts.ts';
import type { SnapshotSources } from './snapshot-sources.ts';

/** Which pods fall under its rules, and when it looks again. */
export class PodGcSnapshot {
  readonly #sources: SnapshotSources;

  constructor(sources: SnapshotSources) {
    this.#sources = sources;
  }

  of(pod: PodView): CollectionFacts {
    const { stages, informers, podGc, clock } = this.#sources;
    return deriveCollectionFacts(pod, {
      ...podGc,
      pods: () => informers.pods.store.values(),
      nodeOf: (name) => informers.nodes.store.get(name),
      collector: stages.podGc,
      nowMs: clock.monotonicMs(),
      nodeUnanswered: this.#whyUnanswered(pod.nodeName),
    });
  }

  all(): PodGcFacts {
    const { stages, informers, podGc, clock } = this.#sources;
    const { missingNodes } = stages.podGc;
    const nextRoundAtMs = stages.podGc.roundFromMs(clock.monotonicMs());
    return { ...deriveFinished({ pods: () => informers.pods.store.values(), ...podGc }), nextRoundAtMs, missingNodes };
  }

  #whyUnanswered(node: string): UnconfirmedReason | undefined {
    const last = this.#sources.stages.decisions.of(node).at(-1)?.decision;
    if (last?.kind !== 'orphans-kept') return undefined;
    return last.why === 'api-not-answering' || last.why === 'not-permitted' ? last.why : undefined;
  }
}
