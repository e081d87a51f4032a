import type { Node } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import type { Labels } from '../../machinery/api/topology.ts';
import { buildNodeReference } from '../../machinery/events/build-reference.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { NodeApi } from './network/fault-injecting-client.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { planFirstWait } from './loops/plan-phase.ts';
import { LeaseRenewer } from './lease/lease-renewer.ts';
import type { FakeMachine } from './machine/fake-machine.ts';
import { NodeShutdown } from './machine/node-shutdown.ts';
import { planShutdownGroups } from './machine/plan-shutdown.ts';
import type { PodKillerOptions } from './machine/pod-termination.ts';
import { PressureMonitor } from './machine/pressure-monitor.ts';
import { type HealthCheck, RuntimeState, type RuntimeUnderCheck } from './machine/runtime-state.ts';
import { type KubeletProfile, renewIntervalMs } from './profile.ts';
import { type Loop, runTogether } from './loops/loop-group.ts';
import type { Semaphore } from './loops/semaphore.ts';
import { untilSettledOrAborted } from '../../machinery/supervision/abort.ts';
import { buildNode } from './node-status/build-node.ts';
import { NodeComposer } from './node-status/node-composer.ts';
import { Registrar } from './node-status/registrar.ts';
import { type NodeLister, StatusPublisher } from './node-status/status-publisher.ts';

export interface NodeManagerOptions {
  readonly name: string;
  readonly labels: Labels;
  /** Outlives this kubelet; faults are injected here. */
  readonly machine: FakeMachine;
  readonly profile: KubeletProfile;
  readonly api: NodeApi;
  /** Lister for its own node. */
  readonly nodes: NodeLister;
  /** Shared by the fleet: limits the number of concurrent registrations. */
  readonly registrations: Semaphore;
  readonly runtime: RuntimeUnderCheck;
  /** Further checks that must pass for the runtime to count as healthy. */
  readonly healthChecks?: readonly HealthCheck[] | undefined;
  /** Pods that run or may run: the candidates for eviction, and those that a shutdown stops. */
  readonly activePods: () => readonly Pod[];
  readonly kill: PodKillerOptions['kill'];
  readonly isCleanedUp: (pod: Pod) => boolean;
  /** Called once, when the node is registered. */
  readonly onRegistered?: () => void;
  /** Called after the second and each further consecutive failed heartbeat: the connection may be at fault. */
  readonly onRepeatedFailure?: (() => void) | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
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
  readonly #composer: NodeComposer;
  readonly #leases: LeaseRenewer;
  readonly #publisher: StatusPublisher;
  /** Set while a caller waits for it. */
  #registered: PromiseWithResolvers<void> | undefined;
  #isRegistered = false;

  constructor(options: NodeManagerOptions) {
    const { name, profile, clock, logger, recorder, machine, activePods: pods, kill } = options;
    const node = buildNodeReference(name);
    this.#options = options;
    this.machine = machine;
    this.runtime = new RuntimeState({
      runtime: options.runtime,
      clock,
      logger,
      healthChecks: options.healthChecks,
      checkPeriodMs: profile.runtimeCheckPeriodMs,
      awaitsStorage: profile.kind === 'v1.36',
    });
    const common = { node, recorder, clock, logger, pods, kill };
    this.pressure = new PressureMonitor({ ...common, machine, isCleanedUp: options.isCleanedUp });
    this.shutdown = new NodeShutdown({
      ...common,
      groups: planShutdownGroups(profile),
      publish: (signal) => this.#publisher.publish(signal),
    });
    this.#composer = this.#buildComposer();
    this.#publisher = this.#buildPublisher();
    this.#leases = this.#buildLeases();
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
   * Runs until the signal aborts, whatever the API server answers. Nothing is cleaned up: node and lease stay as they
   * are, like those of a node that crashed.
   */
  run(signal: AbortSignal): Promise<void> {
    return runTogether(signal, this.loops());
  }

  /** The loops of {@link run}, to be run concurrently. Records the Starting event. */
  loops(): readonly Loop[] {
    const { name, profile, recorder } = this.#options;
    const about = buildNodeReference(name);
    recorder.record({ about, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
    const isModern = profile.kind === 'v1.36';
    return [
      this.runtime,
      (signal) => this.#register(signal),
      (signal) => this.runtime.whenUp(signal).then(() => this.pressure),
      ...(isModern ? [this.#leases, (signal: AbortSignal) => this.#startFast(signal)] : []),
    ];
  }

  /** Registers the node; the status publisher runs after that. */
  async #register(signal: AbortSignal): Promise<StatusPublisher | undefined> {
    const registration = await this.#registrar().register(signal);
    if (registration === undefined || signal.aborted) return undefined;
    if (!registration.created) this.runtime.setStorageReady();
    this.#settleRegistration(registration.node);
    return this.#publisher;
  }

  #buildComposer(): NodeComposer {
    const { name, labels, machine, recorder, clock } = this.#options;
    return new NodeComposer({
      name,
      labels,
      machine,
      recorder,
      clock,
      health: {
        runtimeErrors: () => this.runtime.runtimeErrors(),
        networkErrors: () => this.runtime.networkErrors(),
        storageErrors: () => this.runtime.storageErrors(),
        isShuttingDown: () => this.shutdown.isShuttingDown,
        pressures: () => this.pressure.conditions(),
      },
    });
  }

  #buildPublisher(): StatusPublisher {
    const { name, api, nodes, clock, random, logger, profile, onRepeatedFailure } = this.#options;
    const composer = this.#composer;
    const dependencies = { name, api, nodes, composer, clock, random, logger, profile };
    return new StatusPublisher({ ...dependencies, onRepeatedFailure });
  }

  #buildLeases(): LeaseRenewer {
    const { name, api, clock, random, logger, profile, onRepeatedFailure } = this.#options;
    const firstWait = planFirstWait(profile.leasePhase, name, () => random.next());
    return new LeaseRenewer({
      nodeName: name,
      api,
      clock,
      random,
      logger,
      onRepeatedFailure,
      leaseDurationSeconds: profile.leaseDurationSeconds,
      renewIntervalMs: renewIntervalMs(profile),
      firstWaitMs: firstWait === undefined ? undefined : renewIntervalMs(profile) * firstWait,
    });
  }

  /** Created on use: a registration happens once per run. */
  #registrar(): Registrar {
    const { name, labels, profile, api, registrations, clock, logger } = this.#options;
    const beforeTry = (): void => this.#detectEarlierRun();
    const composer = this.#composer;
    return new Registrar({ name, labels, profile, api, composer, registrations, beforeTry, clock, logger });
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
