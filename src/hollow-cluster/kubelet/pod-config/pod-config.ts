import { formatNanoTime } from '../../../machinery/api/timestamps.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../../machinery/ports/event-recorder.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { Channel } from '../queues/channel.ts';
import { Semaphore } from '../loops/semaphore.ts';
import { duplicatePodName } from './events.ts';
import { mergePods, planDeliveries, type SourcePods } from './merge-pods.ts';
import type { PodSourceName, PodUpdate } from './pod-update.ts';

/** Capacity of the update channel; when it is full, sources block (kubelet `config.NewPodConfig`). */
const updatesMax = 50;

interface PodConfigOptions {
  /** The sources that will send. The caller validates names from flags. */
  readonly sources: readonly PodSourceName[];
  readonly clock: Clock;
  readonly recorder: EventRecorder;
}

/**
 * Merges the pods of several sources into one stream of changes (kubelet `config.PodConfig`). Sources are independent:
 * the same name in two of them is two pods. A loop that does not read blocks every source, once the channel is full.
 */
export class PodConfig {
  readonly updates = new Channel<PodUpdate>(updatesMax);
  readonly #options: PodConfigOptions;
  readonly #pods = new Map<PodSourceName, SourcePods>();
  /** Sources that have sent a complete list at least once. */
  readonly #set = new Set<PodSourceName>();
  /** Sources of which the sync loop has dispatched an update. */
  readonly #dispatched = new Set<PodUpdate['source']>();
  readonly #semaphore = new Semaphore(1);

  constructor(options: PodConfigOptions) {
    this.#options = options;
  }

  /**
   * Sends the complete list of this source. Resolves when the changes are in the channel; sends are merged one at a
   * time, and their changes are delivered together. If the signal aborts, changes that are not yet in the channel are
   * lost.
   */
  send(source: PodSourceName, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    return this.#semaphore.pass(() => this.#deliver(this.#merge(source, pods), signal));
  }

  /** An update of this source was dispatched, whatever its content. */
  addSource(source: PodUpdate['source']): void {
    this.#dispatched.add(source);
  }

  /**
   * True when every configured source has sent a complete list and the sync loop has received it: pods that no source
   * has any more may be stopped. Before that, a late source would look as if it had lost all its pods (kubelet
   * `config.sourcesImpl`).
   */
  allReady(): boolean {
    return this.#options.sources.every((source) => this.#set.has(source) && this.#dispatched.has(source));
  }

  #merge(source: PodSourceName, pods: readonly Pod[]): readonly PodUpdate[] {
    const { clock, recorder } = this.#options;
    const known = this.#pods.get(source) ?? new Map();
    const merged = mergePods({ known, source, pods, seenAt: formatNanoTime(clock.nowMs()) });
    const firstSet = !this.#set.has(source);
    this.#set.add(source);
    this.#pods.set(source, merged.pods);
    for (const pod of merged.duplicates) recorder.record(duplicatePodName(pod, source));
    return planDeliveries({ source, changes: merged, firstSet });
  }

  async #deliver(updates: readonly PodUpdate[], signal: AbortSignal): Promise<void> {
    for (const update of updates) await this.updates.send(update, signal);
  }
}
