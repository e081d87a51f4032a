import type { Pod } from '../../../machinery/api/pod.ts';
import type { Change } from '../../../machinery/informer/informer.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { NodeConnection } from '../network/fault-injecting-client.ts';
import { RestingLoop } from '../loops/resting-loop.ts';
import { isTerminating, podFullName } from './classify-pod.ts';
import type { PodRouter } from './pod-router.ts';
import type { PodSource, SendPods } from './pod-update.ts';

/** Period in which the informers are checked at the start (kubelet `config.WaitForAPIServerSyncPeriod`). */
const syncedPollMs = 1_000;

interface ApiSourceOptions {
  readonly nodeName: string;
  readonly router: PodRouter;
  readonly connection: NodeConnection;
  readonly clock: Clock;
  /**
   * True if the kubelet has observed its own node. No pods are received before that, but they are if it is deleted later
   * (kubelet `newNodeHasSyncedFunc`). Absent: do not wait for it.
   */
  readonly isNodeKnown?: () => boolean;
}

/**
 * The pods that are bound to this node, from the informer that the fleet shares. While the node is disconnected it
 * receives no changes; when it is connected again, it receives the current state, and no intermediate states. The
 * complete list is sent after each change; changes during a send are coalesced. Only the start of a pod's graceful
 * deletion is always sent, even if the pod is gone by then. Each run starts with the complete list.
 */
export function apiSource(options: ApiSourceOptions): PodSource {
  const resting = (send: SendPods): RestingLoop => new ApiSourceLoop(options, send);
  return { name: 'api', resting, run: (send, signal) => resting(send).run(signal) };
}

/** One run of the source. */
class ApiSourceLoop extends RestingLoop {
  readonly #options: ApiSourceOptions;
  readonly #sendPods: SendPods;
  /** Pods whose deletion began since the last send, as they were then. */
  #deleting: Map<string, Pod> | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: ApiSourceOptions, send: SendPods) {
    super(options.clock);
    this.#options = options;
    this.#sendPods = send;
  }

  protected override end(): void {
    this.#unsubscribe?.();
  }

  protected override async turn(signal: AbortSignal): Promise<number> {
    if (this.#unsubscribe === undefined && !this.#isSynced()) return syncedPollMs;
    this.#unsubscribe ??= this.#listen();
    await this.#send(signal);
    return Number.POSITIVE_INFINITY;
  }

  #isSynced(): boolean {
    const { router, isNodeKnown } = this.#options;
    return isNodeKnown?.() !== false && router.hasSynced();
  }

  /** A disconnected node receives no changes. */
  #note(change: Change<Pod>): void {
    if (this.#options.connection.isCut) return;
    if (change.kind === 'modified' && isTerminating(change.object) && !isTerminating(change.previous)) {
      this.#deleting ??= new Map();
      this.#deleting.set(change.object.metadata.uid ?? '', change.object);
    }
    this.ring();
  }

  async #send(signal: AbortSignal): Promise<void> {
    const pods = this.#currentPods();
    if (pods === undefined) return;
    const deleting = this.#deleting?.values() ?? [];
    this.#deleting = undefined;
    const before = selectLostDeletions(pods, [...deleting]);
    if (before !== undefined) await this.#sendPods(before, signal);
    await this.#sendPods(pods, signal);
  }

  /** All pods bound to the node now; undefined while disconnected or not synced, and then the last list stays valid. */
  #currentPods(): readonly Pod[] | undefined {
    const { nodeName, router, connection } = this.#options;
    return connection.isCut || !router.hasSynced() ? undefined : router.podsOn(nodeName);
  }

  #listen(): () => void {
    const { nodeName, router, connection } = this.#options;
    const unsubscribeRouter = router.onNode(nodeName, (change) => this.#note(change));
    const unsubscribeConnection = connection.onRestored(() => this.ring());
    return () => {
      unsubscribeRouter();
      unsubscribeConnection();
    };
  }
}

/**
 * The list that must be sent before this one, so that the graceful deletion of a pod that is already gone is not
 * missed; undefined if none is missed. `deleting`: the pods whose deletion began since the last list, as they were
 * then. A new pod with the name of such a pod is left to the next list: two pods of one name are not in one list.
 */
export function selectLostDeletions(pods: readonly Pod[], deleting: readonly Pod[]): readonly Pod[] | undefined {
  const uids = new Set(pods.map((pod) => pod.metadata.uid));
  const lost = deleting.filter((pod) => !uids.has(pod.metadata.uid));
  if (lost.length === 0) return undefined;
  const names = new Set(lost.map(podFullName));
  return [...lost, ...pods.filter((pod) => !names.has(podFullName(pod)))];
}
