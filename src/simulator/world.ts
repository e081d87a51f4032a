// The whole world of one simulation: storage and API servers, the network, replicas of the controller, hollow nodes and
// users, in one virtual time. The controller, the kubelets and the servers' registry are the code of production.
import { type ControllerOptions, type ControllerSelection, defaultPodGcOptions } from '../controller/model/options.ts';
import { electionDefaults } from '../machinery/election/election-options.ts';
import type { Backup } from '../hollow-cluster/apiserver/storage/versioned-store.ts';
import type { GroundTruth } from '../hollow-cluster/kubelet/faults/ground-truth.ts';
import { HollowFleet } from '../hollow-cluster/kubelet/fleet/fleet.ts';
import { SeededRandom } from '../hollow-cluster/kubelet/faults/seeded-random.ts';
import type { KubeletProfile } from '../hollow-cluster/kubelet/profile.ts';
import type { ManagerConfig } from '../manager/manager.ts';
import type { Random } from '../machinery/ports/random.ts';
import type { WriteLanes } from '../machinery/ports/write-lanes.ts';
import type { ClusterPlan, ControllerMode } from './cluster/cluster-plan.ts';
import { Replica, type Run } from './cluster/replica.ts';
import { type PlacedPod, Workload } from './cluster/workload.ts';
import { between } from './draw.ts';
import { zoneLabel } from './node-fields.ts';
import { Network, type RequestLine } from './network/network.ts';
import { SimulatedClient } from './network/simulated-client.ts';
import { SimulatedApiServer } from './server/api-server.ts';
import { Storage } from './server/storage.ts';
import { Timeline } from './time/timeline.ts';
import { VirtualMachine, VirtualProcess } from './time/virtual-process.ts';
import type { Trace } from './trace.ts';

/** 2026-01-02T03:04:05Z. */
export const wallStartMs = 1_767_323_045_000;
const backupEveryMs = 5_000;
const backupsMax = 24;
/** Between two restores of etcd everything has settled: several in a row leave no evidence of the last one. */
const restoreEveryMs = 300_000;
const workloadPeriodMs = 1_000;
const registrationsMs = 5_000;

/** Settings that take the place of those given. */
export type SettingsChange = Partial<ManagerConfig>;

/** The settings of the controller from this time on. */
export interface SettingsFrom {
  readonly fromMs: number;
  readonly options: ControllerOptions;
}

/** What the simulator cannot do by itself, because it needs the runtime or a package. */
export interface SimulationRuntime {
  /** Calls back when all promises that can settle by themselves have settled. */
  readonly settle: (then: () => void) => void;
  /** `concurrencyMax`: writes of one kind in flight; undefined: the default. */
  readonly makeLanes: (concurrencyMax?: number) => WriteLanes;
}

interface WorldOptions {
  readonly plan: ClusterPlan;
  readonly seed: number;
  /** Wall time at the beginning; absent: {@link wallStartMs}. */
  readonly startsAtMs?: number | undefined;
  readonly simulationRuntime: SimulationRuntime;
  readonly trace: Trace;
  /** The configuration of the replicas; absent: that of the plan. */
  readonly config?: ManagerConfig;
  /** The pods of the workload, which then is to be started; absent: pods of every kind, from the beginning. */
  readonly placed?: readonly PlacedPod[];
  /** Profile of all kubelets; absent: the defaults. */
  readonly profile?: Partial<KubeletProfile>;
  /** False: no backups are taken, so that etcd cannot be restored. */
  readonly takesBackups?: boolean;
  readonly onGroundTruth?: (truth: GroundTruth) => void;
  /** A process of a replica begins. */
  readonly onStarted?: (replica: Replica, run: Run) => void;
  readonly afterInstant?: () => void;
  readonly onSent?: (replica: Replica, request: RequestLine) => void;
  /** Something ended with an error, which is a defect. */
  readonly onFailed: (error: unknown) => void;
}

export class World {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly trace: Trace;
  readonly storage: Storage;
  readonly servers: ReadonlyMap<string, SimulatedApiServer>;
  readonly network: Network;
  readonly machines = new Map<string, VirtualMachine>();
  readonly replicas: ReadonlyMap<string, Replica>;
  /** A replica that writes nothing, beside the others; most worlds have none. */
  readonly shadow: Replica | undefined;
  readonly fleet: HollowFleet;
  readonly workload: Workload;
  /** The shortest grace period that applied so far. */
  graceMsMin: number;
  /** The settings of the replicas, from each of these times on; never empty. */
  readonly settings: SettingsFrom[] = [];
  /** Whether changed settings reach a replica late, in a cluster whose plan says so. */
  settingsLag = true;
  /** When etcd was restored last. */
  restoredAtMs = Number.NEGATIVE_INFINITY;
  /** When the last lease could be decoded again; Infinity while one cannot. */
  undecodableLeasesUntilMs = Number.NEGATIVE_INFINITY;
  readonly #options: WorldOptions;
  readonly #fleetProcess: VirtualProcess;
  readonly #life = new AbortController();
  readonly #lags = new Map<string, number>();
  readonly #backups: { readonly atMs: number; readonly backup: Backup }[] = [];
  readonly #startsAtMs: number;
  readonly #given: ManagerConfig;
  #config: ManagerConfig;
  /** Changed settings, the last one wins. */
  readonly #changes = new Set<SettingsChange>();

  constructor(options: WorldOptions) {
    const { plan, seed, simulationRuntime, trace, afterInstant } = options;
    this.#options = options;
    this.random = new SeededRandom(seed ^ 0x5eed);
    this.trace = trace;
    this.timeline = new Timeline({
      random: new SeededRandom(seed ^ 0x71ed),
      settle: simulationRuntime.settle,
      ...(afterInstant === undefined ? {} : { afterInstant }),
    });
    trace.follow(this.timeline);
    this.#startsAtMs = options.startsAtMs ?? wallStartMs;
    const etcd = new VirtualProcess(this.timeline, new VirtualMachine(this.timeline, this.#startsAtMs));
    this.storage = new Storage(etcd, this.random);
    this.servers = new Map(range(plan.servers, 'server').map((name) => [name, this.#makeServer(name)]));
    this.network = new Network({ servers: [...this.servers.values()], random: this.random, latencyMs: plan.latencyMs });
    this.#given = options.config ?? configOf(plan);
    this.#config = this.#given;
    this.settings.push({ fromMs: 0, options: this.#config });
    this.graceMsMin = shortestGraceMs(this.#config);
    this.replicas = new Map(range(plan.replicas, 'replica').map((name) => [name, this.#makeReplica(name)]));
    this.shadow = plan.hasShadow === true ? this.#makeReplica('shadow-1', shadowConfig) : undefined;
    this.#fleetProcess = new VirtualProcess(this.timeline, new VirtualMachine(this.timeline, this.#startsAtMs));
    this.fleet = this.#makeFleet();
    this.workload = new Workload({
      storage: this.storage,
      random: this.random,
      podsWanted: options.placed?.length ?? plan.podsPerNode * plan.nodes.length,
      placed: options.placed,
    });
  }

  get config(): ManagerConfig {
    return this.#config;
  }

  start(): void {
    this.fleet.run(this.#life.signal).catch(this.#options.onFailed);
    for (const replica of this.replicas.values())
      this.timeline.after(between(this.random, 0, 10_000), () => replica.start());
    this.shadow?.start();
    if (this.#options.placed === undefined) this.startWorkload();
    if (this.#options.takesBackups !== false) this.#every(backupEveryMs, () => this.#backUp());
  }

  /** With {@link WorldOptions.placed}, for a caller that waits until all nodes are ready. */
  startWorkload(): void {
    this.#every(workloadPeriodMs, () => this.workload.reconcile());
  }

  /** The replica that leads, if one does. */
  leader(): Replica | undefined {
    return [...this.replicas.values()].find(({ run }) => run?.manager.mayWrite() === true);
  }

  /** Nothing runs any more. */
  end(): void {
    for (const replica of this.replicas.values()) replica.discard();
    this.shadow?.discard();
    this.#fleetProcess.kill();
  }

  server(name: string): SimulatedApiServer {
    const server = this.servers.get(name);
    if (server === undefined) throw new RangeError(`no server ${name}`);
    return server;
  }

  /** Returns the function that starts them again. */
  stopServers(names: readonly string[]): () => void {
    const stopped = names.map((name) => this.server(name)).filter(({ isUp }) => isUp);
    for (const server of stopped) server.stop();
    return () => {
      for (const server of stopped) server.start();
    };
  }

  /** The watch cache of this server falls behind. */
  lag(server: string, ms: number): () => void {
    this.#lags.set(server, ms);
    return () => this.#lags.delete(server);
  }

  /** The most by which a watch cache is behind now. */
  longestLagMs(): number {
    return Math.max(this.#options.plan.lagMsMax, ...this.#lags.values());
  }

  /** etcd is restored from the newest backup of this age, and every server restarts. */
  restore(ageMs: number): void {
    if (this.timeline.nowMs - this.restoredAtMs < restoreEveryMs) return;
    const found = this.#backups.findLastIndex(({ atMs }) => atMs <= this.timeline.nowMs - ageMs);
    const backup = this.#backups[found]?.backup;
    if (backup === undefined) return;
    // Later backups are of a history that has ended: their revisions would be used twice.
    this.#backups.splice(found + 1);
    this.restoredAtMs = this.timeline.nowMs;
    const start = this.stopServers([...this.servers.keys()]);
    this.storage.restore(backup);
    this.storage.deleteBudgets();
    this.workload.recount();
    start();
    this.#fleetProcess.arrive(() => this.fleet.noticeRollback());
  }

  /** Returns the function that changes them back. */
  changeSettings(change: SettingsChange): () => void {
    this.#changes.add(change);
    this.#adopt();
    return () => {
      this.#changes.delete(change);
      this.#adopt();
    };
  }

  #adopt(): void {
    this.#config = Object.assign({}, this.#given, ...this.#changes);
    this.settings.push({ fromMs: this.timeline.nowMs, options: this.#config });
    this.graceMsMin = Math.min(this.graceMsMin, shortestGraceMs(this.#config));
    for (const replica of [...this.replicas.values(), this.shadow]) if (replica !== undefined) this.#reach(replica);
  }

  #reach(replica: Replica): void {
    const { settingsLagMsMax } = this.#options.plan;
    if (settingsLagMsMax === undefined || !this.settingsLag) return replica.adoptConfig();
    this.timeline.after(between(this.random, 0, settingsLagMsMax), () => replica.adoptConfig());
  }

  #every(periodMs: number, run: () => void): void {
    const tick = (): void => {
      if (this.#fleetProcess.isKilled) return;
      run();
      this.timeline.after(periodMs, tick);
    };
    this.timeline.after(periodMs, tick);
  }

  #backUp(): void {
    this.#backups.push({ atMs: this.timeline.nowMs, backup: this.storage.backup() });
    if (this.#backups.length > backupsMax) this.#backups.shift();
  }

  #makeServer(name: string): SimulatedApiServer {
    const { lagMsMax } = this.#options.plan;
    const clock = new VirtualProcess(this.timeline, new VirtualMachine(this.timeline, this.#startsAtMs));
    return new SimulatedApiServer({
      name,
      storage: this.storage,
      timeline: this.timeline,
      clock,
      random: this.random,
      lagMs: () => this.#lags.get(name) ?? lagMsMax * this.random.next(),
    });
  }

  #makeReplica(name: string, differing?: Partial<ManagerConfig>): Replica {
    const { plan, simulationRuntime, trace, onSent, onFailed } = this.#options;
    const machine = new VirtualMachine(
      this.timeline,
      this.#startsAtMs,
      between(this.random, -plan.driftMax, plan.driftMax),
    );
    this.machines.set(name, machine);
    return new Replica({
      name,
      machine,
      timeline: this.timeline,
      network: this.network,
      random: this.random,
      trace,
      config: differing === undefined ? () => this.#config : () => ({ ...this.#config, ...differing }),
      limits: plan.limits,
      makeLanes: () => simulationRuntime.makeLanes(plan.concurrentWrites),
      answersAt: (address) => this.fleet.answersAt(address),
      onSent: (replica, line) => onSent?.(replica, line),
      onStarted: (replica, run) => this.#options.onStarted?.(replica, run),
      onFailed,
    });
  }

  #makeFleet(): HollowFleet {
    const { plan, trace, seed, onGroundTruth, profile = {} } = this.#options;
    const process = this.#fleetProcess;
    const client = new SimulatedClient({
      by: { process: 'fleet', client: 'kubelets' },
      process,
      timeline: this.timeline,
      network: this.network,
      random: this.random,
      qps: 0,
      burst: 0,
      onSent: () => undefined,
    });
    return new HollowFleet({
      nodes: plan.nodes.map(({ name, zone, labels }) => ({
        name,
        labels: zone === '' ? (labels ?? {}) : { 'topology.kubernetes.io/region': 'r', ...labels, [zoneLabel]: zone },
      })),
      api: client,
      clock: process,
      random: this.random,
      logger: trace.logger('fleet'),
      seed,
      startRampMs: registrationsMs,
      profile,
      ...(onGroundTruth === undefined ? {} : { onGroundTruth }),
    });
  }
}

function shortestGraceMs({ nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs }: ControllerOptions): number {
  return Math.min(nodeMonitorGracePeriodMs, nodeStartupGracePeriodMs);
}

function configOf(plan: ClusterPlan): ManagerConfig {
  return {
    ...plan.controller,
    ...defaultPodGcOptions,
    controllers: controllersOf(plan.mode),
    shadow: false,
    watchCanary: plan.watchCanary,
    waitForEvictionResponders: false,
    namespaceAutonomy: plan.namespaceAutonomy ?? false,
    eventsApi: 'core',
    leaderElect: true,
    leaderElectLeaseDurationMs: electionDefaults.leaseDurationMs,
    leaderElectRenewDeadlineMs: electionDefaults.renewDeadlineMs,
    leaderElectRetryPeriodMs: electionDefaults.retryPeriodMs,
    leaderElectResourceName: 'node-lifecycle-controller',
    leaderElectResourceNamespace: 'kube-system',
  };
}

function controllersOf(mode: ControllerMode | undefined): ControllerSelection {
  return { nodeLifecycle: mode !== 'evictor', taintEviction: mode !== 'detector', podGc: true };
}

/** Settings of a replica that only compares, beside those that act. */
const shadowConfig = {
  controllers: { nodeLifecycle: true, taintEviction: true, podGc: false },
  shadow: true,
  leaderElect: false,
  watchCanary: false,
} as const;

function range(count: number, name: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}
