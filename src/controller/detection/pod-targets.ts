// The addresses of pods, read from the API server when they are needed: no cache of the controller has them.
import type { NodeView } from '../../machinery/api/node.ts';
import { isCompleted, type Pod, type PodView } from '../../machinery/api/pod.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { DialTarget } from '../../machinery/ports/dialer.ts';
import type { KubeReader } from '../../machinery/ports/kube-reader.ts';
import { callWithin } from '../../machinery/supervision/call-within.ts';
import { buildPodTarget } from './build-targets.ts';

/** An address is read again after this time. */
const keptMs = 60_000;
/** A read without a response after this time counts as failed. */
const readMsMax = 2_000;
/** So many pods of a node are asked. */
const podsMax = 2;

interface PodTargetsOptions {
  readonly api: Pick<KubeReader, 'get'>;
  readonly podsOn: (node: string) => readonly PodView[];
  readonly clock: Clock;
}

interface Kept {
  readonly uid: string;
  readonly since: string;
  readonly targets: readonly DialTarget[];
  readonly untilMs: number;
}

export class PodTargets {
  readonly #options: PodTargetsOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: PodTargetsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Nothing is kept of other nodes. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of this.#kept.keys()) if (!nodes.has(node)) this.#kept.delete(node);
  }

  /**
   * Addresses of pods of a node; those that were read are kept until it sends another heartbeat (`since`). Rejects with what the read
   * rejects with: that they are not known is not that there are none.
   */
  async of(
    { name, uid }: Pick<NodeView, 'name' | 'uid'>,
    since: string,
    signal: AbortSignal,
  ): Promise<readonly DialTarget[]> {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const kept = this.#kept.get(name);
    if (kept?.uid === uid && kept.since === since && kept.untilMs > nowMs) return kept.targets;
    const targets = await callWithin({ clock, ms: readMsMax, signal }, (within) => this.#read(name, within));
    this.#kept.set(name, { uid, since, targets, untilMs: nowMs + keptMs });
    return targets;
  }

  async #read(node: string, signal: AbortSignal): Promise<readonly DialTarget[]> {
    const running = this.#options.podsOn(node).filter((pod) => !isCompleted(pod) && !pod.terminating);
    const targets: DialTarget[] = [];
    for (const { namespace, name } of running.slice(0, 2 * podsMax)) {
      if (targets.length === podsMax) break;
      const pod: Pod = await this.#options.api.get('pods', { namespace, name }, { whole: true, signal });
      targets.push(...[buildPodTarget(pod)].filter((target) => target !== undefined));
    }
    return targets;
  }
}
