import { formatNanoTime } from '../../api/timestamps.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Pod } from '../../api/pod.ts';
import { Channel } from '../../queueing/channel.ts';
import { Turnstile } from '../turnstile.ts';
import { duplicatePodName } from './events.ts';
import { mergePods, type PodInput, type SourcePods } from './merge-pods.ts';
import { type NotificationMode, planDeliveries } from './plan-deliveries.ts';
import type { PodSourceName, PodUpdate } from './pod-update.ts';
import type { SourcesSeen } from './sources-ready.ts';

/** Updates that may wait for the sync loop; then the sources wait (kubelet `config.NewPodConfig`). */
export const updatesMax = 50;

export interface PodConfigOptions {
  /** The sources that will send. A name from outside, as of a flag, is checked by the caller. */
  readonly sources: readonly PodSourceName[];
  /** `incremental` when absent: the only one that the sync loop understands. */
  readonly mode?: NotificationMode;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
}

/**
 * Merges what several sources know into one stream of changes (kubelet `config.PodConfig`). Sources do not know of each
 * other: the same name in two of them is two pods. A loop that does not read holds up every source, once the channel is
 * full.
 */
export class PodConfig implements SourcesSeen {
  readonly updates = new Channel<PodUpdate>(updatesMax);
  readonly #options: PodConfigOptions;
  readonly #pods = new Map<PodSourceName, SourcePods>();
  /** Those that have sent everything they have at least once. */
  readonly #set = new Set<PodSourceName>();
  readonly #turnstile = new Turnstile(1);

  constructor(options: PodConfigOptions) {
    this.#options = options;
  }

  /**
   * Everything that this source has now. Resolves when the changes are in the channel; one send at a time is merged,
   * and its changes come out together. An aborted signal loses what was not yet in: the loop is to end as well.
   */
  send(source: PodSourceName, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    return this.apply({ op: 'SET', source, pods }, signal);
  }

  /** As {@link send}, for a source that tells only what came (`ADD`, `UPDATE`, `DELETE`: all the same) or went (`REMOVE`). */
  apply(input: PodInput, signal: AbortSignal): Promise<void> {
    return this.#turnstile.pass(() => this.#deliver(this.#merge(input), signal));
  }

  /** Tells everything there is as one `SET` of all sources, which the sync loop does not take. */
  sync(signal: AbortSignal): Promise<void> {
    return this.#turnstile.pass(() => this.#deliver([{ op: 'SET', source: '*', pods: this.#all() }], signal));
  }

  seenAllSources(heard: ReadonlySet<PodUpdate['source']>): boolean {
    return this.#options.sources.every((source) => this.#set.has(source) && heard.has(source));
  }

  #merge(input: PodInput): readonly PodUpdate[] {
    const { clock, recorder, mode = 'incremental' } = this.#options;
    const { op, source } = input;
    const known = this.#pods.get(source) ?? new Map();
    const merged = mergePods({ known, input, seenAt: formatNanoTime(clock.nowMs()) });
    const firstSet = op === 'SET' && !this.#set.has(source);
    if (op === 'SET') this.#set.add(source);
    this.#pods.set(source, merged.pods);
    for (const pod of merged.duplicates) recorder.record(duplicatePodName(pod, source));
    return planDeliveries({ mode, source, changes: merged, firstSet, all: () => this.#all() });
  }

  async #deliver(updates: readonly PodUpdate[], signal: AbortSignal): Promise<void> {
    for (const update of updates) await this.updates.send(update, signal);
  }

  #all(): readonly Pod[] {
    return [...this.#pods.values()].flatMap((pods) => [...pods.values()].map(({ pod }) => pod));
  }
}
