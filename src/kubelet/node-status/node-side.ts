import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import type { Labels } from '../../api/topology.ts';
import { deriveNodeReference } from '../../events/derive-node-reference.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { KubeReader } from '../../ports/kube-reader.ts';
import type { KubeWriter } from '../../ports/kube-writer.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Meter } from '../../ports/meter.ts';
import type { Random } from '../../ports/random.ts';
import { deriveFirstWait } from '../derive-phase.ts';
import { LeaseRenewer } from '../lease/lease-renewer.ts';
import { deriveThresholds, type Threshold } from '../machine/derive-thresholds.ts';
import { FakeMachine } from '../machine/fake-machine.ts';
import { NodeShutdown } from '../machine/node-shutdown.ts';
import { type NodeVolumes, noVolumes } from '../machine/node-volumes.ts';
import { planShutdownGroups } from '../machine/plan-shutdown.ts';
import type { PodKiller } from '../machine/pod-verdict.ts';
import { PressureMonitor } from '../machine/pressure-monitor.ts';
import { type HealthCheck, RuntimeState, type RuntimeUnderCheck } from '../machine/runtime-state.ts';
import { type KubeletProfile, type Machine, renewIntervalMs } from '../profile.ts';
import type { Loop } from '../loop-group.ts';
import { runTogether } from '../run-together.ts';
import type { Turnstile } from '../turnstile.ts';
import { untilSettledOrAborted } from '../until-settled-or-aborted.ts';
import { deriveNode } from './derive-node.ts';
import { runFastStart } from './fast-start.ts';
import { NodeComposer } from './node-composer.ts';
import { Registrar } from './registrar.ts';
import type { NodeHealth, StatusSetter } from './setter-context.ts';
import { type NodeLister, StatusPublisher } from './status-publisher.ts';
import { statusSetters } from './status-setters.ts';

export interface NodeSideOptions {
  readonly name: string;
  readonly labels: Labels;
  /** What it is made of, or the machine itself: then it outlives this kubelet. */
  readonly machine: Machine | FakeMachine;
  readonly profile: KubeletProfile;
  readonly api: KubeReader & KubeWriter;
  readonly nodes: NodeLister;
  readonly registrations: Turnstile;
  readonly runtime: RuntimeUnderCheck;
  /** What else has to work for the runtime to count as healthy. */
  readonly healthChecks?: readonly HealthCheck[];
  readonly setters?: readonly StatusSetter[];
  readonly volumes?: NodeVolumes;
  /** Pods that run, or may: they are who is evicted, and who is stopped for a shutdown. */
  readonly activePods?: () => readonly Pod[];
  readonly kill?: PodKiller;
  readonly isCleanedUp?: (pod: Pod) => boolean;
  readonly onRegistered?: () => void;
  readonly onRepeatedFailure?: () => void;
  readonly recorder?: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter?: Meter;
}

/**
 * All of a kubelet that is about its node and not about its pods: it registers the node, heartbeats, reports its status,
 * watches the machine for pressure and shutdown.
 */
export class NodeSide {
  /** Break it here. */
  readonly machine: FakeMachine;
  readonly runtime: RuntimeState;
  readonly pressure: PressureMonitor;
  readonly shutdown: NodeShutdown;
  readonly #options: NodeSideOptions;
  readonly #recorder: EventRecorder;
  readonly #composer: NodeComposer;
  readonly #leases: LeaseRenewer;
  readonly #publisher: StatusPublisher;
  /** While somebody waits for it. */
  #registered: PromiseWithResolvers<void> | undefined;
  #isRegistered = false;

  /** Throws a RangeError for a profile or setters that make no sense. */
  constructor(options: NodeSideOptions) {
    const { name, profile, clock, logger, machine } = options;
    const recorder = options.recorder ?? silentRecorder;
    const node = deriveNodeReference({ name }, profile.nodeEventUid);
    const pods = options.activePods ?? noPods;
    const kill = options.kill ?? killNobody;
    this.#options = options;
    this.#recorder = recorder;
    this.machine = machine instanceof FakeMachine ? machine : new FakeMachine(name, machine);
    this.runtime = new RuntimeState({
      runtime: options.runtime,
      clock,
      logger,
      ...(options.healthChecks === undefined ? {} : { healthChecks: options.healthChecks }),
      checkPeriodMs: profile.runtimeCheckPeriodMs,
      awaitsStorage: profile.kind === 'modern',
    });
    const common = { node, recorder, clock, logger, pods, kill };
    this.pressure = new PressureMonitor({
      ...common,
      machine: this.machine,
      thresholds: thresholdsOf(profile),
      config: profile,
      hardKeepsGrace: profile.kind === 'classic',
      isCleanedUp: options.isCleanedUp ?? isAlwaysCleanedUp,
    });
    this.shutdown = new NodeShutdown({
      ...common,
      groups: planShutdownGroups(profile),
      publish: (signal) => this.#publisher.publish(signal),
    });
    const volumes = options.volumes ?? noVolumes;
    this.#composer = this.#buildComposer(recorder, volumes);
    this.#publisher = this.#buildPublisher(volumes);
    this.#leases = this.#buildLeases();
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /** Its last status that arrived said Ready. */
  get isReady(): boolean {
    return this.#publisher.isReady;
  }

  /** Monotonic time of the last renewal that the API server confirmed. */
  get renewedAtMs(): number | undefined {
    return this.#leases.renewedAtMs;
  }

  /** The node as it would be registered now (kubelet `initialNode`). */
  async initialNode(): Promise<Node> {
    const { clock } = this.#options;
    return await this.#composer.compose(deriveNode({ ...this.#options, nowMs: clock.nowMs() }));
  }

  /** Stops one of the two heartbeats, or lets it go on; nothing else of the kubelet notices. */
  setHeartbeat(heartbeat: 'lease' | 'status', isOn: boolean): void {
    if (heartbeat === 'lease') this.#leases.pause(!isOn);
    else this.#publisher.pause(!isOn);
  }

  /** Resolves when the API server knows the node, or when the signal aborts. */
  whenRegistered(signal: AbortSignal): Promise<void> {
    if (this.#isRegistered) return Promise.resolve();
    this.#registered ??= Promise.withResolvers();
    return untilSettledOrAborted(this.#registered.promise, signal);
  }

  /**
   * Lives until the signal aborts, through everything that the API server answers or does not. No good-byes: node and
   * lease stay as they are, and look like those of a node that crashed.
   */
  run(signal: AbortSignal): Promise<void> {
    return runTogether(signal, this.loops());
  }

  /** All that has to run for {@link run}, side by side, from now on. */
  loops(): readonly Loop[] {
    const { name, profile } = this.#options;
    const about = deriveNodeReference({ name }, profile.nodeEventUid);
    this.#recorder.record({ about, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
    const isModern = profile.kind === 'modern';
    return [
      this.runtime,
      (signal) => this.#register(signal),
      (signal) => this.runtime.whenUp(signal).then(() => this.pressure),
      ...(isModern ? [this.#leases, (signal: AbortSignal) => this.#startFast(signal)] : []),
    ];
  }

  /** And then reports the node's status, period by period. */
  async #register(signal: AbortSignal): Promise<StatusPublisher | undefined> {
    const registration = this.#options.profile.registerNode ? await this.#registrar().register(signal) : undefined;
    if (signal.aborted) return undefined;
    if (registration === undefined || !registration.created) this.runtime.setStorageReady();
    this.#settleRegistration(registration?.node);
    return this.#publisher;
  }

  #buildComposer(recorder: EventRecorder, volumes: NodeVolumes): NodeComposer {
    const { name, labels, profile, clock, logger, meter, setters } = this.#options;
    return new NodeComposer({
      name,
      labels,
      profile,
      clock,
      logger,
      ...(meter === undefined ? {} : { meter }),
      machine: this.machine,
      setters: statusSetters(profile.kind, setters),
      health: this.#health(),
      volumes,
      recorder,
    });
  }

  #buildPublisher(volumes: NodeVolumes): StatusPublisher {
    const { name, api, nodes, clock, random, logger, profile } = this.#options;
    const composer = this.#composer;
    const means = { name, api, nodes, composer, volumes, clock, random, logger, profile };
    return new StatusPublisher({ ...means, ...this.#calls() });
  }

  #buildLeases(): LeaseRenewer {
    const { name, api, clock, random, logger, profile } = this.#options;
    const firstWait = deriveFirstWait(profile.leasePhase, name, () => random.next());
    return new LeaseRenewer({
      nodeName: name,
      api,
      clock,
      random,
      logger,
      ...this.#calls(),
      leaseDurationSeconds: profile.leaseDurationSeconds,
      renewIntervalMs: renewIntervalMs(profile),
      ...(firstWait === undefined ? {} : { firstWaitMs: renewIntervalMs(profile) * firstWait }),
    });
  }

  #calls(): Pick<NodeSideOptions, 'onRepeatedFailure'> {
    const { onRepeatedFailure } = this.#options;
    return onRepeatedFailure === undefined ? {} : { onRepeatedFailure };
  }

  /** Needed once in a life. */
  #registrar(): Registrar {
    const { name, labels, profile, api, registrations, clock, logger } = this.#options;
    const beforeTry = (): void => this.#lookForEarlierLife();
    const composer = this.#composer;
    return new Registrar({ name, labels, profile, api, composer, registrations, beforeTry, clock, logger });
  }

  #settleRegistration(node: Node | undefined): void {
    if (node !== undefined) this.#publisher.adopt(node);
    this.#isRegistered = true;
    this.#options.onRegistered?.();
    this.#registered?.resolve();
    this.#registered = undefined;
  }

  /** What a node object is needed for comes a moment after it. */
  async #startFast(signal: AbortSignal): Promise<void> {
    const { clock, profile } = this.#options;
    await runTogether(signal, [
      (signal) => runFastStart({ ...this.#options, publisher: this.#publisher, runtime: this.runtime }, signal),
      async (signal) => {
        await this.whenRegistered(signal);
        await clock.sleep(profile.fastStatusPeriodMs, signal);
        this.runtime.setStorageReady();
      },
    ]);
  }

  #health(): NodeHealth {
    return {
      runtimeErrors: () => this.runtime.runtimeErrors(),
      networkErrors: () => this.runtime.networkErrors(),
      storageErrors: () => this.runtime.storageErrors(),
      isShuttingDown: () => this.shutdown.isShuttingDown,
      pressures: () => this.pressure.conditions(),
    };
  }

  /** A node that is there before it is registered is of an earlier life, and with it is what its storage plugins need. */
  #lookForEarlierLife(): void {
    const { nodes, name } = this.#options;
    if (typeof nodes.get(name) === 'object') this.runtime.setStorageReady();
  }
}

/** The nodes of a fleet share their profile, and what follows from it. */
const thresholdsByProfile = new WeakMap<KubeletProfile, readonly Threshold[]>();

function thresholdsOf(profile: KubeletProfile): readonly Threshold[] {
  const known = thresholdsByProfile.get(profile);
  if (known !== undefined) return known;
  const thresholds = deriveThresholds(profile);
  thresholdsByProfile.set(profile, thresholds);
  return thresholds;
}

const silentRecorder: EventRecorder = { record() {} };

function noPods(): readonly Pod[] {
  return [];
}

async function killNobody(): Promise<void> {}

function isAlwaysCleanedUp(): boolean {
  return true;
}
