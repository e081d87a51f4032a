import type { Pod } from '../../api/pod.ts';
import type { Cable } from '../link.ts';
import type { PodRouter } from './pod-router.ts';

/** Where a kubelet's pods come from. */
export interface PodSource {
  /** All pods bound to the node now; undefined while the source cannot tell, and then what was known still holds. */
  look(): readonly Pod[] | undefined;
  /** Calls back when a look may show something new. Returns the way to leave. */
  onChange(listener: () => void): () => void;
}

export interface ApiSourceOptions {
  readonly nodeName: string;
  readonly router: PodRouter;
  readonly cable: Cable;
}

/**
 * The pods that the API server has bound to this node, seen through the informer that the fleet shares. While the
 * node's cable is out it sees nothing new; when it is in again, it sees what is there then, and nothing of what was in
 * between.
 */
export class ApiSource implements PodSource {
  readonly #options: ApiSourceOptions;

  constructor(options: ApiSourceOptions) {
    this.#options = options;
  }

  look(): readonly Pod[] | undefined {
    const { nodeName, router, cable } = this.#options;
    return cable.isCut || !router.hasSynced() ? undefined : router.podsOn(nodeName);
  }

  onChange(listener: () => void): () => void {
    const { nodeName, router, cable } = this.#options;
    const leaveRouter = router.onNode(nodeName, listener);
    const leaveCable = cable.onRestored(listener);
    return () => {
      leaveRouter();
      leaveCable();
    };
  }
}
