import type { ObjectReference } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { Logger } from '../../ports/logger.ts';
import type { PodAdmission } from './decide-pressure-admission.ts';
import { planShutdown, type PlannedStop, type ShutdownGroup, type ShutdownStage } from './plan-shutdown.ts';
import { type PodKiller, terminationByKubelet } from './pod-verdict.ts';

const killedMessage = 'Pod was terminated in response to imminent node shutdown.';

const rejection: PodAdmission = {
  admitted: false,
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

export interface NodeShutdownOptions {
  /** By rising priority; without any the kubelet takes no notice of a shutdown. */
  readonly groups: readonly ShutdownGroup[];
  /** Whom events are about. */
  readonly node: ObjectReference;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pods that run, or may. */
  readonly pods: () => readonly Pod[];
  readonly kill: PodKiller;
  /** Tells the API server how the node is, now. Never rejects for what that answers. */
  readonly publish: (signal: AbortSignal) => Promise<void>;
}

/** What a kubelet does when its machine is told to go down: it says so, and ends its pods in time (kubelet node shutdown manager). */
export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  #current: AbortController | undefined;

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  get isShuttingDown(): boolean {
    return this.#current !== undefined;
  }

  /** Would a pod be taken in now? */
  admit(): PodAdmission {
    return this.isShuttingDown ? rejection : { admitted: true };
  }

  /**
   * The machine goes down. Resolves when every pod was told to end, and has, or its time is over; or when the shutdown
   * is cancelled. Never rejects. Where no time was reserved for a shutdown, nothing happens.
   */
  async begin(signal: AbortSignal): Promise<void> {
    const { groups, pods, publish } = this.#options;
    if (groups.length === 0 || this.isShuttingDown) return;
    const current = new AbortController();
    this.#current = current;
    this.#tell('Shutdown manager detected shutdown event');
    await Promise.all([publish(signal), this.#stopAll(planShutdown(groups, pods()), current, signal)]);
  }

  /** The machine stays up after all. Pods that were told to end do so; the others are left alone. */
  cancel(): void {
    if (this.#current === undefined) return;
    this.#current.abort();
    this.#current = undefined;
    this.#tell('Shutdown manager detected shutdown cancellation');
  }

  #tell(message: string): void {
    const { recorder, node } = this.#options;
    recorder.record({ about: node, type: 'Normal', reason: 'Shutdown', message });
  }

  async #stopAll(stages: readonly ShutdownStage[], current: AbortController, signal: AbortSignal): Promise<void> {
    for (const stage of stages) {
      if (signal.aborted || current.signal.aborted) return;
      await this.#stopStage(stage, AbortSignal.any([signal, current.signal]), signal);
    }
  }

  /** Until all have ended, or their time is over. */
  async #stopStage({ stops, periodMs }: ShutdownStage, cancelled: AbortSignal, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    const stopped = Promise.all(stops.map((stop) => this.#stop(stop, signal))).then(() => {
      done.abort();
    });
    await this.#options.clock.sleep(periodMs, AbortSignal.any([cancelled, done.signal]));
    if (done.signal.aborted) await stopped;
  }

  async #stop({ pod, graceMs }: PlannedStop, signal: AbortSignal): Promise<void> {
    const { kill, logger } = this.#options;
    const message = killedMessage;
    const condition = { type: 'DisruptionTarget', status: 'True', reason: terminationByKubelet, message };
    try {
      await kill(pod, { reason: 'Terminated', message, condition, graceMs, evicted: false }, signal);
    } catch (error) {
      logger.error({ pod: pod.metadata.name, error: String(error) }, 'a pod could not be stopped for the shutdown');
    }
  }
}
