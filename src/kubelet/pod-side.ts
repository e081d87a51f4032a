import type { Node } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { PodAdmitter, type PodAdmitterOptions } from './admission/pod-admitter.ts';
import type { PodVerdict } from './machine/pod-verdict.ts';
import type { RuntimeState } from './machine/runtime-state.ts';
import { PodCache } from './pleg/pod-cache.ts';
import { Relister } from './pleg/relister.ts';
import { PodConfig } from './pod-config/pod-config.ts';
import { PodManager } from './pod-config/pod-manager.ts';
import type { PodSource, SendPods } from './pod-config/pod-source.ts';
import { SourcesReady } from './pod-config/sources-ready.ts';
import { MirrorPods } from './pod-status/mirror-pods.ts';
import { PodStatusManager, type PodStatusManagerOptions } from './pod-status/pod-status-manager.ts';
import { PodEnder } from './pod-workers/pod-ender.ts';
import { PodSyncer } from './pod-workers/pod-syncer.ts';
import { PodWorkers } from './pod-workers/pod-workers.ts';
import { PodWorkQueue } from './pod-workers/work-queue.ts';
import type { Loop } from './loop-group.ts';
import type { KubeletProfile } from './profile.ts';
import type { ContainerHost } from './runtime/container-host.ts';
import type { ContainerScript } from './runtime/derive-container-script.ts';
import { FakeRuntime, plainScript } from './runtime/hollow-runtime.ts';
import { Housekeeper } from './sync-loop/housekeeper.ts';
import { ChannelInput, TickInput } from './sync-loop/loop-input.ts';
import { PodHandlers } from './sync-loop/pod-handlers.ts';
import { SyncLoop } from './sync-loop/sync-loop.ts';

/** How often pods that are due are looked for, and how often is cleaned up (kubelet `housekeepingPeriod`). */
const syncTickMs = 1_000;
const housekeepingMs = 2_000;

export interface PodSideOptions {
  readonly name: string;
  readonly profile: KubeletProfile;
  readonly api: PodStatusManagerOptions['api'];
  /** Where its pods come from. */
  readonly sources: readonly PodSource[];
  /** What runs on the machine, whether or not a kubelet looks. */
  readonly host: ContainerHost;
  /** The node's addresses, the main one first. */
  readonly hostIPs: () => readonly string[];
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What the pods' side asks of the node's side. */
export interface NodeFacts {
  readonly runtime: Pick<RuntimeState, 'runtimeErrors' | 'wellAtMs' | 'networkErrors'>;
  readonly pressure: PodAdmitterOptions['pressure'];
  readonly shutdown: PodAdmitterOptions['shutdown'];
  /** The kubelet's own node as it was last seen; undefined while the API server has none. */
  readonly known: () => Node | undefined;
  /** The same, or the node as the kubelet would register it. */
  readonly any: () => Promise<Node>;
}

/**
 * All of a kubelet that is about its pods and not about its node: takes them in from their sources, runs and ends them on
 * the runtime, and tells the API server how they are. One life of a kubelet has one; what runs outlives it.
 */
export class PodSide {
  readonly runtime: FakeRuntime;
  readonly relister: Relister;
  readonly workers: PodWorkers;
  readonly statuses: PodStatusManager;
  readonly pods = new PodManager();
  readonly #options: PodSideOptions;
  readonly #cache = new PodCache();
  readonly #config: PodConfig;
  readonly #sources: SourcesReady;
  readonly #mirrors: MirrorPods;
  readonly #queue: PodWorkQueue;
  readonly #syncer: PodSyncer;
  readonly #housekeeper: Housekeeper;
  readonly #syncTick: TickInput;
  #node: NodeFacts | undefined;
  #handlers: PodHandlers | undefined;
  #loop: SyncLoop | undefined;

  constructor(options: PodSideOptions) {
    const { api, profile, clock, random, recorder, logger, sources } = options;
    this.#options = options;
    this.#config = new PodConfig({ sources: sources.map((source) => source.name), clock, recorder });
    this.#sources = new SourcesReady(this.#config);
    this.runtime = this.#buildRuntime();
    this.relister = new Relister({ runtime: this.runtime, cache: this.#cache, clock, logger });
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
        // Kubelets of today do not wait for the next relist to see what they have started.
        if (profile.kind === 'modern') this.relister.request(uid);
      },
      onFinished: () => this.#housekeeper.note(),
    });
    this.#housekeeper = new Housekeeper({ ...this.#parts(), clock, logger });
    this.#syncTick = this.#buildSyncTick();
  }

  /** Pods that run, or may: those that may be evicted or stopped. */
  activePods(): readonly Pod[] {
    return this.#handlers?.activePods() ?? [];
  }

  /** Pods of its sources, and those that are gone from them and still on their way out. */
  get podCount(): number {
    const leaving = [...this.workers.uids()].filter(
      (uid) => this.pods.podByUid(uid) === undefined && !this.workers.isFinished(uid),
    );
    return this.pods.size + leaving.length;
  }

  /** Ends a pod because the kubelet itself wants that (see {@link PodEnder.end}). */
  async end(pod: Pod, verdict: PodVerdict, signal: AbortSignal): Promise<void> {
    const { clock, recorder } = this.#options;
    await new PodEnder({ workers: this.workers, clock, recorder }).end(pod, verdict, signal);
  }

  /** What the health check of the sync loop says; undefined while it is alive. */
  problem(nowMs: number): string | undefined {
    return this.#loop?.problem(nowMs);
  }

  /**
   * All that has to run, side by side and each until its signal aborts, for as long as this kubelet lives. Nothing is said
   * at the end: what runs on the machine goes on running.
   */
  loops(node: NodeFacts): readonly Loop[] {
    const { sources } = this.#options;
    this.#node = node;
    this.#handlers = this.#buildHandlers(node);
    this.#loop = this.#buildLoop(node, this.#handlers);
    const workers = (signal: AbortSignal): Promise<void> => this.workers.run(signal);
    return [this.relister, this.statuses, workers, this.#loop, ...sources.map((source) => this.#sourceLoop(source))];
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
      wording: profile.kind,
      onSandboxReady: (pod) => this.#syncer.noteSandbox(pod),
    });
  }

  #buildStatuses(): PodStatusManager {
    const { profile, host, api, clock, logger } = this.#options;
    return new PodStatusManager({
      api,
      clock,
      logger,
      pods: this.pods,
      style: profile.kind,
      passPeriodMs: profile.podStatusPassMs,
      mayRun: (uid) => this.workers.mayRun(uid),
      hasContainers: (uid) => host.inspect(uid).containers.length > 0,
    });
  }

  #buildSyncer(): PodSyncer {
    const { profile, recorder, clock, hostIPs } = this.#options;
    return new PodSyncer({
      recorder,
      clock,
      hostIPs,
      runtime: this.runtime,
      statuses: this.statuses,
      mirrors: this.#mirrors,
      networkErrors: () => this.#node?.runtime.networkErrors() ?? [],
      retriesAtBackoffEnd: profile.kind === 'modern',
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
        new ChannelInput('pleg', this.relister.events, (event) => handlers.observe(event)),
        this.#syncTick,
        housekeeping,
      ],
      runtimeErrors: () => node.runtime.runtimeErrors(),
      wellAtMs: () => node.runtime.wellAtMs(),
      classic: profile.kind === 'classic',
      syncFrequencyMs: profile.syncPeriodMs,
    });
  }

  #parts(): {
    readonly pods: PodManager;
    readonly workers: PodWorkers;
    readonly statuses: PodStatusManager;
    readonly mirrors: MirrorPods;
    readonly runtime: FakeRuntime;
    readonly sources: SourcesReady;
  } {
    const { pods, workers, statuses, runtime } = this;
    return { pods, workers, statuses, runtime, mirrors: this.#mirrors, sources: this.#sources };
  }
}

/** The nodes of a fleet share their profile, and what follows from it. */
const scripts = new WeakMap<KubeletProfile, ContainerScript>();

function scriptOf(profile: KubeletProfile): ContainerScript {
  const known = scripts.get(profile);
  if (known !== undefined) return known;
  const script = { ...plainScript, startMs: profile.podStartDelayMs, stopMs: profile.podStopDelayMs };
  scripts.set(profile, script);
  return script;
}
