import type { PodAdmission } from './decide-pressure-admission.ts';
import { planShutdown, type PlannedStop, type ShutdownGroup, type ShutdownStage } from './plan-shutdown.ts';
import type { PodKillerOptions } from './pod-termination.ts';

const killedMessage = 'Pod was terminated in response to imminent node shutdown.';

const rejection: PodAdmission = {
  admitted: false,
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

interface NodeShutdownOptions extends PodKillerOptions {
  /** By ascending priority; without any the kubelet ignores a shutdown. */
  readonly groups: readonly ShutdownGroup[];
  /** Publishes the node status now. Never rejects because of an API error. */
  readonly publish: (signal: AbortSignal) => Promise<void>;
}

/**
 * Graceful node shutdown: reports the node as shutting down and terminates its pods in time (kubelet node shutdown
 * manager).
 */
export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  #current: AbortController | undefined;

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  get isShuttingDown(): boolean {
    return this.#current !== undefined;
  }

  /** Admits pods unless the node is shutting down. */
  admit(): PodAdmission {
    return this.isShuttingDown ? rejection : { admitted: true };
  }

  /**
   * Starts a shutdown. Resolves when all pods have terminated or their time is over, or when the shutdown is cancelled.
   * Never rejects. Does nothing if no time is reserved for a shutdown.
   */
  async begin(signal: AbortSignal): Promise<void> {
    const { groups, pods, publish } = this.#options;
    if (groups.length === 0 || this.isShuttingDown) return;
    const current = new AbortController();
    this.#current = current;
    this.#record('Shutdown manager detected shutdown event');
    await Promise.all([publish(signal), this.#stopAll(planShutdown(groups, pods()), current, signal)]);
  }

  /** Cancels the shutdown. Pods that are already being terminated still terminate; the others are not touched. */
  cancel(): void {
    if (this.#current === undefined) return;
    this.#current.abort();
    this.#current = undefined;
    this.#record('Shutdown manager detected shutdown cancellation');
  }

  #record(message: string): void {
    const { recorder, node } = this.#options;
    recorder.record({ about: node, type: 'Normal', reason: 'Shutdown', message });
  }

  async #stopAll(stages: readonly ShutdownStage[], current: AbortController, signal: AbortSignal): Promise<void> {
    for (const stage of stages) {
      if (signal.aborted || current.signal.aborted) return;
      await this.#stopStage(stage, AbortSignal.any([signal, current.signal]), signal);
    }
  }

  /** Resolves when all pods have terminated, or their time is over. */
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
    try {
      await kill(pod, { reason: 'Terminated', message: killedMessage, graceMs, evicted: false }, signal);
    } catch (error) {
      logger.error({ pod: pod.metadata.name, error: String(error) }, 'failed to kill pod for node shutdown');
    }
  }
}
