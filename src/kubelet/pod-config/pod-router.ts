import type { Pod } from '../../api/pod.ts';
import type { Change, Informer } from '../../informer/informer.ts';

/** The index of the shared informer that {@link PodRouter} reads: pods by the node they are bound to. */
export const nodeIndex = 'node';

/** The index function for {@link nodeIndex}. */
export function indexByNode(pod: Pod): readonly string[] {
  const nodeName = pod.spec?.nodeName;
  return nodeName === undefined || nodeName === '' ? [] : [nodeName];
}

/** Called with each change of a pod that is bound to the node. */
export type PodListener = (change: Change<Pod>) => void;

/** Shares one pod informer among many nodes: each change calls the one node that it concerns. */
export class PodRouter {
  readonly #pods: Informer<Pod>;
  readonly #listeners = new Map<string, PodListener>();

  constructor(pods: Informer<Pod>) {
    this.#pods = pods;
  }

  /** Starts to listen to the informer. Returns the way to stop. */
  connect(): () => void {
    return this.#pods.onChange('pod-router', (change) => {
      this.#route(change);
    });
  }

  hasSynced(): boolean {
    return this.#pods.hasSynced();
  }

  podsOn(nodeName: string): readonly Pod[] {
    return this.#pods.store.byIndex(nodeIndex, nodeName);
  }

  /** One listener a node; returns the way to leave. */
  onNode(nodeName: string, listener: PodListener): () => void {
    this.#listeners.set(nodeName, listener);
    return () => {
      if (this.#listeners.get(nodeName) === listener) this.#listeners.delete(nodeName);
    };
  }

  #route(change: Change<Pod>): void {
    for (const nodeName of indexByNode(change.object)) this.#listeners.get(nodeName)?.(change);
  }
}
