import type { Node } from '../../machinery/api/node.ts';
import type { Pod } from '../../machinery/api/pod.ts';
import type { Clock } from '../../machinery/ports/clock.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { Logger } from '../../machinery/ports/logger.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { PodAdmitter, type PodAdmitterOptions } from './admission/pod-admitter.ts';
import type { PodTermination } from './machine/pod-termination.ts';
import type { RuntimeState } from './machine/runtime-state.ts';
import { PodCache } from './pleg/pod-cache.ts';
import { GenericPleg } from './pleg/generic-pleg.ts';
import { isStaticPod, uidOf } from './pod-config/classify-pod.ts';
import { PodConfig } from './pod-config/pod-config.ts';
import { PodManager } from './pod-config/pod-manager.ts';
import type { PodSource, SendPods } from './pod-config/pod-update.ts';
import { MirrorPods } from './static-pods/mirror-pods.ts';
import { PodStatusManager, type PodStatusManagerOptions } from './pod-status/pod-status-manager.ts';
import { terminatePod } from './pod-workers/terminate-pod.ts';
import { PodSyncer } from './pod-workers/pod-syncer.ts';
import { PodWorkers } from './pod-workers/pod-workers.ts';
import { PodWorkQueue } from './pod-workers/work-queue.ts';
import type { Loop } from './loops/loop-group.ts';
import type { KubeletProfile } from './profile.ts';
import type { ContainerHost } from './runtime/container-host.ts';
import type { ContainerScript } from './runtime/build-container-script.ts';
import { FakeRuntime, plainScript } from './runtime/hollow-runtime.ts';
import { Housekeeper, type HousekeeperOptions } from './sync-loop/housekeeper.ts';
import { ChannelInput, TickInput } from './sync-loop/loop-input.ts';
import { PodHandlers, type PodHandlersOptions } from './sync-loop/pod-handlers.ts';
import { SyncLoop } from './sync-loop/sync-loop.ts';

/** Periods of the sync tick and of housekeeping (kubelet `housekeepingPeriod`). */
const syncTickMs = 1_000;
const housekeepingMs = 2_000;

interface PodLifecycleOptions {
  readonly name: string;
  readonly profile: KubeletProfile;
  readonly api: PodStatusManagerOptions['api'];
  /** Pod sources. */
  readonly sources: readonly PodSource[];
  /** The containers on the machine, which outlive the kubelet. */
  readonly host: ContainerHost;
  /** The node's addresses, primary first. */
  readonly hostIPs: () => readonly string[];
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The node state that the pod part depends on. */
interface NodeFacts {
  readonly runtime: Pick<RuntimeState, 'runtimeErrors' | 'healthyAtMs' | 'networkErrors'>;
  readonly pressure: PodAdmitterOptions['pressure'];
  readonly shutdown: PodAdmitterOptions['shutdown'];
  /** The kubelet's own node as last observed; undefined while it does not exist. */
  readonly known: () => Node | undefined;
  /** Node object of the API, or the node as the kubelet would register it. */
  readonly any: () => Node;
}

/**
 * The part of a kubelet that manages its pods: it receives them from their sources, runs and terminates them on the
 * runtime, and writes their status to the API server. One instance per run of the kubelet; containers outlive it.
 */
export class PodLifecycle {
  readonly runtime: FakeRuntime;
  readonly pleg: GenericPleg;
  readonly workers: PodWorkers;
  readonly statuses: PodStatusManager;
  readonly pods = new PodManager();
  readonly #options: PodLifecycleOptions;
  readonly #cache = new PodCache();
  readonly #config: PodConfig;
  readonly #mirrors: MirrorPods;
  readonly #queue: PodWorkQueue;
  readonly #syncer: PodSyncer;
  readonly #housekeeper: Housekeeper;
  readonly #syncTick: TickInput;
  #node: NodeFacts | undefined;
  #handlers: PodHandlers | undefined;
  #loop: SyncLoop | undefined;

  constructor(options: PodLifecycleOptions) {
    const { api, profile, clock, random, recorder, logger, sources } = options;
    this.#options = options;
    this.#config = new PodConfig({ sources: sources.map((source) => source.name), clock, recorder });
    this.runtime = this.#buildRuntime();
    this.pleg = new GenericPleg({ runtime: this.runtime, cache: this.#cache, clock, logger });
    this.statuses = this.#buildStatuses();
    this.#mirrors = new MirrorPods({ api, logger, node: () => this.#node?.known() });
    this.#queue = new PodWorkQueue(clock, () => this.#syncTick.noteDue());
    this.#syncer = this.#buildSyncer();
    this.workers = new PodWorkers({
      clock,
      random,
      recorder,
      steps: this.#syncer,
      cache: this.#cache,
      queue: this.#queue,
      syncFrequencyMs: profile.syncPeriodMs,
      onSynced: (uid) => {
        // Kubelet v1.37 does not wait for the next relist to observe containers that it has started.
        if (profile.kind === 'v1.37') this.pleg.request(uid);
      },
      onFinished: () => this.#housekeeper.note(),
    });
    this.#housekeeper = new Housekeeper({ ...this.#parts(), clock, logger });
    this.#syncTick = this.#buildSyncTick();
  }

  /** Pods that run or may run: those that may be evicted or stopped. */
  activePods(): readonly Pod[] {
    return this.#handlers?.activePods() ?? [];
  }

  /**
   * The pods of all its sources, without mirrors, as its read-only API lists them: a static pod with the status of this
   * kubelet, the others with that of the API server (kubelet `GetPods`).
   */
  knownPods(): readonly Pod[] {
    return [...this.pods.all()].map((pod) => {
      const status = isStaticPod(pod) ? this.statuses.status(uidOf(pod)) : undefined;
      return status === undefined ? pod : { ...pod, status };
    });
  }

  /** Number of pods of its sources, including removed pods that are still terminating. */
  get podCount(): number {
    const leaving = [...this.workers.uids()].filter(
      (uid) => this.pods.podByUid(uid) === undefined && !this.workers.isFinished(uid),
    );
    return this.pods.size + leaving.length;
  }

  /** Terminates a pod on the kubelet's own decision (see {@link terminatePod}). */
  async terminate(pod: Pod, termination: PodTermination, signal: AbortSignal): Promise<void> {
    const { clock, recorder } = this.#options;
    await terminatePod({ workers: this.workers, clock, recorder }, pod, termination, signal);
  }

  /** The problem that the sync loop's health check reports; undefined while it is healthy. */
  problem(nowMs: number): string | undefined {
    return this.#loop?.problem(nowMs);
  }

  /**
   * All loops of this kubelet run, to be run concurrently until their signal aborts. Nothing is cleaned up at the end:
   * containers on the machine keep running.
   */
  loops(node: NodeFacts): readonly Loop[] {
    const { sources } = this.#options;
    this.#node = node;
    this.#handlers = this.#buildHandlers(node);
    this.#loop = this.#buildLoop(node, this.#handlers);
    const workers = (signal: AbortSignal): Promise<void> => this.workers.run(signal);
    return [this.pleg, this.statuses, workers, this.#loop, ...sources.map((source) => this.#sourceLoop(source))];
  }

  #sourceLoop(source: PodSource): Loop {
    const send: SendPods = (pods, signal) => this.#config.send(source.name, pods, signal);
    return source.resting?.(send) ?? ((signal) => source.run(send, signal));
  }

  #buildRuntime(): FakeRuntime {
    const { profile, host, clock, recorder } = this.#options;
    return new FakeRuntime({
      host,
      clock,
      recorder,
      script: scriptOf(profile),
      jobPodMs: profile.jobPodDurationMs,
      unpullable: profile.unpullableImages,
      onSandboxReady: (pod) => this.#syncer.noteSandbox(pod),
    });
  }

  #buildStatuses(): PodStatusManager {
    const { profile, api, clock, logger } = this.#options;
    return new PodStatusManager({
      api,
      clock,
      logger,
      pods: this.pods,
      passPeriodMs: profile.podStatusPassMs,
      mayRun: (uid) => this.workers.mayRun(uid),
    });
  }

  #buildSyncer(): PodSyncer {
    const { recorder, clock, hostIPs } = this.#options;
    return new PodSyncer({
      recorder,
      clock,
      hostIPs,
      runtime: this.runtime,
      statuses: this.statuses,
      mirrors: this.#mirrors,
      networkErrors: () => this.#node?.runtime.networkErrors() ?? [],
    });
  }

  #buildSyncTick(): TickInput {
    return new TickInput({
      name: 'sync',
      clock: this.#options.clock,
      periodMs: syncTickMs,
      dueAtMs: () => this.#queue.nextDueAtMs,
      handle: async () => this.#handlers?.sync(this.#queue.takeDue()),
    });
  }

  #buildHandlers(node: NodeFacts): PodHandlers {
    const { name, api, recorder, logger } = this.#options;
    const { pressure, shutdown, any } = node;
    return new PodHandlers({
      ...this.#parts(),
      recorder,
      logger,
      admitter: new PodAdmitter({ nodeName: name, api, node: any, pressure, shutdown }),
      onChange: this.#housekeeper.note,
    });
  }

  #buildLoop(node: NodeFacts, handlers: PodHandlers): SyncLoop {
    const { profile, clock, random, logger } = this.#options;
    const housekeeping = new TickInput({
      name: 'housekeeping',
      clock,
      periodMs: housekeepingMs,
      dueAtMs: () => this.#housekeeper.dirtySinceMs(),
      handle: (signal) => this.#housekeeper.tick(signal),
    });
    this.#housekeeper.onDirty = housekeeping.noteDue;
    return new SyncLoop({
      clock,
      random,
      logger,
      inputs: [
        new ChannelInput('config', this.#config.updates, (update, signal) => handlers.dispatch(update, signal)),
        new ChannelInput('pleg', this.pleg.events, (event) => handlers.observe(event)),
        this.#syncTick,
        housekeeping,
      ],
      runtimeErrors: () => node.runtime.runtimeErrors(),
      healthyAtMs: () => node.runtime.healthyAtMs(),
      syncFrequencyMs: profile.syncPeriodMs,
    });
  }

  #parts(): Omit<HousekeeperOptions, 'clock' | 'logger'> & Pick<PodHandlersOptions, 'statuses' | 'sources'> {
    const { pods, workers, statuses, runtime } = this;
    return { pods, workers, statuses, runtime, mirrors: this.#mirrors, sources: this.#config };
  }
}

/** The nodes of a fleet share their profile and its container script. */
const scripts = new WeakMap<KubeletProfile, ContainerScript>();

function scriptOf(profile: KubeletProfile): ContainerScript {
  const known = scripts.get(profile);
  if (known !== undefined) return known;
  const script = { ...plainScript, startMs: profile.podStartDelayMs, stopMs: profile.podStopDelayMs };
  scripts.set(profile, script);
  return script;
}
