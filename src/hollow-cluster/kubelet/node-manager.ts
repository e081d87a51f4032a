import type { Node } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import { buildNodeReference } from '../../machinery/events/build-reference.ts';
import { LeaseRenewer } from './lease/lease-renewer.ts';
import type { FakeMachine } from './machine/fake-machine.ts';
import { NodeShutdown } from './machine/node-shutdown.ts';
import { planShutdownGroups } from './machine/plan-shutdown.ts';
import type { PodKillerOptions } from './machine/pod-termination.ts';
import { PressureMonitor } from './machine/pressure-monitor.ts';
import { type HealthCheck, RuntimeState, type RuntimeUnderCheck } from './machine/runtime-state.ts';
import { type Loop, runTogether } from './loops/loop-group.ts';
import { untilSettledOrAborted } from '../../machinery/supervision/abort.ts';
import { buildNode } from './node-status/build-node.ts';
import { NodeComposer } from './node-status/node-composer.ts';
import type { NodeOptions } from './node-status/node-options.ts';
import { Registrar } from './node-status/registrar.ts';
import { NodeReference } from './node-status/node-reference.ts';
import { StatusPublisher } from './node-status/status-publisher.ts';

export interface NodeManagerOptions extends NodeOptions {
  readonly runtime: RuntimeUnderCheck;
  /** Further checks that must pass for the runtime to count as healthy. */
  readonly healthChecks?: readonly HealthCheck[] | undefined;
  /** Pods that run or may run: the candidates for eviction, and those that a shutdown stops. */
  readonly activePods: () => readonly Pod[];
  readonly kill: PodKillerOptions['kill'];
  readonly isCleanedUp: (pod: Pod) => boolean;
  /** Called once, when the node is registered. */
  readonly onRegistered?: () => void;
}

/**
 * The part of a kubelet that manages its node: it registers the node, heartbeats, reports the node's status, and
 * monitors the machine for resource pressure and shutdown.
 */
export class NodeManager {
  readonly machine: FakeMachine;
  readonly runtime: RuntimeState;
  readonly pressure: PressureMonitor;
  readonly shutdown: NodeShutdown;
  readonly #options: NodeManagerOptions;
  readonly #reference: NodeReference;
  readonly #composer: NodeComposer;
  readonly #leases: LeaseRenewer;
  readonly #publisher: StatusPublisher;
  /** Set while a caller waits for it. */
  #registered: PromiseWithResolvers<void> | undefined;
  #isRegistered = false;

  constructor(options: NodeManagerOptions) {
    const { name, profile, clock, logger, recorder, machine, activePods: pods, kill } = options;
    // Without the uid, as in the Events of a kubelet about evictions and shutdowns.
    const node = buildNodeReference(name);
    this.#options = options;
    this.#reference = new NodeReference(options);
    this.machine = machine;
    this.runtime = new RuntimeState({
      runtime: options.runtime,
      clock,
      logger,
      healthChecks: options.healthChecks,
      checkPeriodMs: profile.runtimeCheckPeriodMs,
      awaitsStorage: profile.kind === 'v1.37',
    });
    const common = { node, recorder, clock, logger, pods, kill };
    this.pressure = new PressureMonitor({ ...common, machine, isCleanedUp: options.isCleanedUp });
    this.shutdown = new NodeShutdown({
      ...common,
      groups: planShutdownGroups(profile),
      publish: (signal) => this.#publisher.publish(signal),
    });
    this.#composer = new NodeComposer({ ...options, reference: this.#reference }, this);
    this.#publisher = new StatusPublisher(options, this.#composer);
    this.#leases = new LeaseRenewer(options);
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /** The last status that was written had Ready=True. */
  get isReady(): boolean {
    return this.#publisher.isReady;
  }

  /** Monotonic time of the last renewal that the API server confirmed. */
  get renewedAtMs(): number | undefined {
    return this.#leases.renewedAtMs;
  }

  /** The node as it would be registered now (kubelet `initialNode`). */
  initialNode(): Node {
    return this.#composer.compose(buildNode(this.#options));
  }

  /** Resolves when the node is registered, or when the signal aborts. */
  whenRegistered(signal: AbortSignal): Promise<void> {
    if (this.#isRegistered) return Promise.resolve();
    this.#registered ??= Promise.withResolvers();
    return untilSettledOrAborted(this.#registered.promise, signal);
  }

  /**
   * Its loops, to be run concurrently, whatever the API server answers. Nothing is cleaned up at their end: node and lease
   * stay as they are, like those of a node that crashed. Records the Starting event.
   */
  loops(): readonly Loop[] {
    const { profile, recorder } = this.#options;
    const about = this.#reference.get();
    recorder.record({ about, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
    const isModern = profile.kind === 'v1.37';
    return [
      this.runtime,
      (signal) => this.#register(signal),
      (signal) => this.runtime.whenUp(signal).then(() => this.pressure),
      ...(isModern ? [this.#leases, (signal: AbortSignal) => this.#startFast(signal)] : []),
    ];
  }

  /** Registers the node; the status publisher runs after that. */
  async #register(signal: AbortSignal): Promise<StatusPublisher | undefined> {
    const registrar = new Registrar(this.#options, this.#composer, () => this.#detectEarlierRun());
    const registration = await registrar.register(signal);
    if (registration === undefined || signal.aborted) return undefined;
    if (!registration.created) this.runtime.setStorageReady();
    this.#settleRegistration(registration.node);
    return this.#publisher;
  }

  #settleRegistration(node: Node): void {
    this.#publisher.adopt(node);
    this.#isRegistered = true;
    this.#options.onRegistered?.();
    this.#registered?.resolve();
    this.#registered = undefined;
  }

  /** The CSINode becomes ready one fast-start period after registration. */
  async #startFast(signal: AbortSignal): Promise<void> {
    const { clock, profile } = this.#options;
    await runTogether(signal, [
      (signal) => this.#publishOnceReady(signal),
      async (signal) => {
        await this.whenRegistered(signal);
        await clock.sleep(profile.fastStatusPeriodMs, signal);
        this.runtime.setStorageReady();
      },
    ]);
  }

  /**
   * Checks ten times a second whether a node that just started is ready, so that Ready is reported without waiting for
   * the next period. Ends when it is ready, or after a time limit (kubelet `fastStatusUpdateOnce`).
   */
  async #publishOnceReady(signal: AbortSignal): Promise<void> {
    const { profile, clock, logger } = this.#options;
    const startedAtMs = clock.monotonicMs();
    while (!signal.aborted) {
      if (clock.monotonicMs() - startedAtMs >= profile.fastStatusMsMax) {
        logger.error({ afterMs: profile.fastStatusMsMax }, 'Node not becoming ready in time after startup');
        return;
      }
      const problems = [...this.runtime.runtimeErrors(), ...this.runtime.networkErrors()];
      if (problems.length > 0) await this.runtime.check(signal);
      if (await this.#publisher.publishOnceReady(signal)) return;
      await clock.sleep(profile.fastStatusPeriodMs, signal);
    }
  }

  /** A Node object that exists before registration belongs to an earlier run, and its CSINode is initialized. */
  #detectEarlierRun(): void {
    const { nodes, name } = this.#options;
    if (typeof nodes.get(name) === 'object') this.runtime.setStorageReady();
  }
}
