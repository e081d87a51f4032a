import type { Pod } from '../../../machinery/api/pod.ts';
import type { Change, Informer } from '../../../machinery/informer/informer.ts';

/** The index of the shared informer that {@link PodRouter} reads: pods by the node they are bound to. */
export const nodeIndex = 'node';

/** The index function for {@link nodeIndex}. */
export function indexByNode(pod: Pod): readonly string[] {
  const nodeName = pod.spec?.nodeName;
  return nodeName === undefined || nodeName === '' ? [] : [nodeName];
}

type PodListener = (change: Change<Pod>) => void;

/** Shares one pod informer among many nodes: each change is sent only to the node that it concerns. */
export class PodRouter {
  readonly #pods: Informer<Pod>;
  readonly #listeners = new Map<string, PodListener>();

  constructor(pods: Informer<Pod>) {
    this.#pods = pods;
  }

  /** Subscribes to the informer. Returns the function that unsubscribes. */
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

  /** One listener per node; returns the function that unsubscribes. */
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
