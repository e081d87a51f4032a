import type { Pod } from '../../api/pod.ts';
import type { Change } from '../../informer/informer.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cable } from '../link.ts';
import type { GroupLoop } from '../loop-group.ts';
import { RestingLoop, runAlone } from '../resting-loop.ts';
import { isTerminating } from './classify-pod.ts';
import { deriveLostDeletions } from './derive-lost-deletions.ts';
import type { PodRouter } from './pod-router.ts';
import type { PodSource, SendPods } from './pod-source.ts';

/** How often it is looked whether the informers have their first state (kubelet `config.WaitForAPIServerSyncPeriod`). */
export const syncedPollMs = 1_000;

export interface ApiSourceOptions {
  readonly nodeName: string;
  readonly router: PodRouter;
  readonly cable: Cable;
  readonly clock: Clock;
  /** The kubelet's own node has been seen, or is known not to be there. Absent: nobody has to wait for that. */
  readonly nodesSynced?: () => boolean;
}

/**
 * The pods that the API server has bound to this node, seen through the informer that the fleet shares. While the
 * node's cable is out it sees nothing new; when it is in again, it sees what is there then, and nothing of what was in
 * between.
 */
export class ApiSource implements PodSource {
  readonly name = 'api';
  readonly #options: ApiSourceOptions;

  constructor(options: ApiSourceOptions) {
    this.#options = options;
  }

  /**
   * Sends the complete list whenever something changed. Changes that come while a send is under way are one: the list as
   * it is then decides. Only that a pod's graceful deletion began is told even if the pod is gone by then. Each run
   * begins anew, with all there is.
   */
  run(send: SendPods, signal: AbortSignal): Promise<void> {
    return runAlone(this.resting(send), signal);
  }

  resting(send: SendPods): GroupLoop {
    return new ApiSourceLoop(this.#options, send);
  }
}

/** One run of the source. */
class ApiSourceLoop extends RestingLoop {
  readonly #options: ApiSourceOptions;
  readonly #sendPods: SendPods;
  /** Pods whose deletion began since the last send, as they were then. */
  #deleting: Map<string, Pod> | undefined;
  #leave: (() => void) | undefined;

  constructor(options: ApiSourceOptions, send: SendPods) {
    super(options.clock);
    this.#options = options;
    this.#sendPods = send;
  }

  protected override end(): void {
    this.#leave?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    if (this.#leave === undefined && !this.#isSynced()) return syncedPollMs;
    this.#leave ??= this.#listen();
    await this.#send(signal);
    return Number.POSITIVE_INFINITY;
  }

  #isSynced(): boolean {
    const { router, nodesSynced } = this.#options;
    return nodesSynced?.() !== false && router.hasSynced();
  }

  /** A node whose cable is out hears of nothing. */
  #note(change: Change<Pod>): void {
    if (this.#options.cable.isCut) return;
    if (change.kind === 'modified' && isTerminating(change.object) && !isTerminating(change.previous)) {
      this.#deleting ??= new Map();
      this.#deleting.set(change.object.metadata.uid ?? '', change.object);
    }
    this.ring();
  }

  async #send(signal: AbortSignal): Promise<void> {
    const pods = this.#look();
    if (pods === undefined) return;
    const deleting = this.#deleting?.values() ?? [];
    this.#deleting = undefined;
    const before = deriveLostDeletions(pods, [...deleting]);
    if (before !== undefined) await this.#sendPods(before, signal);
    await this.#sendPods(pods, signal);
  }

  /** All pods bound to the node now; undefined while it cannot be told, and then what was known still holds. */
  #look(): readonly Pod[] | undefined {
    const { nodeName, router, cable } = this.#options;
    return cable.isCut || !router.hasSynced() ? undefined : router.podsOn(nodeName);
  }

  #listen(): () => void {
    const { nodeName, router, cable } = this.#options;
    const leaveRouter = router.onNode(nodeName, (change) => this.#note(change));
    const leaveCable = cable.onRestored(() => this.ring());
    return () => {
      leaveRouter();
      leaveCable();
    };
  }
}
