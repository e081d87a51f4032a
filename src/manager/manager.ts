// One replica of the controller: informers, leader election, the stages and their Events. It knows the API through ports
// only, so that a process and a simulated replica are composed by the same code. Order of start: informers, leader
// election, and as leader the stages. Order of shutdown: loops, informers, writes in flight, Events; the lease is released
// when the replica can no longer write.
import { describeDecision } from '../controller/decision-log/describe-decision.ts';
import type { SettingChange } from '../controller/model/decisions.ts';
import {
  type ControllerOptions,
  type ControllerSelection,
  type PodGcOptions,
  runningParts,
} from '../controller/model/options.ts';
import type { Probing } from '../controller/lifecycle-options.ts';
import { NodeLifecycle } from '../controller/node-lifecycle.ts';
import { ShadowMode } from '../controller/shadow/shadow-mode.ts';
import type { CollectionSize } from '../controller/report/collection-sizes.ts';
import { DashboardKeeper } from '../dashboard/server/dashboard-keeper.ts';
import type { DashboardSources } from '../dashboard/server/dashboard-sources.ts';
import { countPolicyFigures } from '../controller/report/policy-figures.ts';
import { LiveSnapshot, type Snapshot } from '../controller/report/snapshot.ts';
import type { ReportSources } from '../controller/report/report-sources.ts';
import type { ConfigFileReport } from '../controller/report/pages.ts';
import type { LeaseApi } from '../machinery/election/election-options.ts';
import { LeaderElector } from '../machinery/election/leader-elector.ts';
import type { Broadcaster } from '../machinery/events/broadcaster.ts';
import type { EventApi } from '../machinery/events/event-sink.ts';
import { type EventsApi, makeBroadcaster } from '../machinery/events/events-api.ts';
import { waitForCacheSync } from '../machinery/informer/wait-for-cache-sync.ts';
import type { Ambient } from '../machinery/ports/ambient.ts';
import type { Dialer } from '../machinery/ports/dialer.ts';
import type { EventRecorder } from '../machinery/ports/event-recorder.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../machinery/ports/kube-writer.ts';
import type { Ending, Leadership } from '../machinery/ports/leadership.ts';
import type { Live } from '../machinery/ports/live.ts';
import type { Random } from '../machinery/ports/random.ts';
import type { WriteLanes } from '../machinery/ports/write-lanes.ts';
import { ApiContact } from '../machinery/supervision/api-contact.ts';
import { LinkedAbort } from '../machinery/supervision/abort.ts';
import { suspends } from '../machinery/supervision/suspends.ts';
import { ApiCanaryLease } from './canary-lease.ts';
import { makeEvictionInformer } from './eviction-informer.ts';
import { isAutonomous, makeInformers, type NodeInformers } from './informers.ts';
import { ApiLiveLeases } from './live-leases.ts';
import { buildPolicyObjectsReport, type PolicyAdoption, PolicyObjects } from '../policy/objects/policy-objects.ts';
import { PolicyStatusWriter } from '../policy/objects/policy-status-writer.ts';
import { ScheduledPolicies } from '../policy/schedules/scheduled-policies.ts';
import { ApiWitnessReports } from './witness-lease.ts';
import { WriteBlocker } from './write-blocker.ts';

/** Limit of the final flush of Events, because a standby waits for the lease. */
const flushMsMax = 500;
const syncWarnMs = 10_000;

/** The settings of a replica; those of the stages may change while it runs, see {@link Manager.optionsChanged}. */
export interface ManagerConfig extends ControllerOptions, PodGcOptions {
  readonly controllers: ControllerSelection;
  /** Write nothing, and compare decisions with the active controllers of the cluster. */
  readonly shadow: boolean;
  /** Write a lease every few seconds to detect a lease watch that lags. */
  readonly watchCanary: boolean;
  /** Pods of reachable nodes wait for the responders of their Evictions. */
  readonly waitForEvictionResponders: boolean;
  /** A pod asks to be kept by the label of its namespace too. */
  readonly namespaceAutonomy: boolean;
  readonly eventsApi: EventsApi;
  readonly leaderElect: boolean;
  readonly leaderElectLeaseDurationMs: number;
  readonly leaderElectRenewDeadlineMs: number;
  readonly leaderElectRetryPeriodMs: number;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
}

/** Clients with a rate limit each, so that no kind of request waits behind another. They ask {@link Manager.mayWrite}. */
interface ManagerApis {
  /** API of informers and stages. */
  readonly main: KubeReader & KubeWriter;
  /** API of probes and live reads. */
  readonly freshness: Pick<KubeReader, 'get' | 'list'>;
  /** Absent in shadow mode. */
  readonly writing?:
    | {
        readonly events: EventApi;
        readonly election: LeaseApi;
        readonly canary: Pick<KubeWriter, 'create' | 'patch'>;
        /** The only one beside election that a standby writes with: what it found for the leader. */
        readonly witness: Pick<KubeReader, 'get'> & Pick<KubeWriter, 'create' | 'patch'>;
        /** Absent where policies come from the config file. */
        readonly policyStatus?: Pick<KubeWriter, 'patch'> | undefined;
      }
    | undefined;
}

interface ManagerOptions extends Ambient {
  readonly config: Live<ManagerConfig>;
  readonly apis: ManagerApis;
  readonly lanes: WriteLanes;
  readonly random: Random;
  /** Unique among all replicas and restarts. */
  readonly identity: string;
  /** The reporting instance of Events in events.k8s.io/v1; in core/v1 controllers set none. */
  readonly host: string;
  /** The node on which it runs; empty: not known. Probes from one node have one witness only. */
  readonly place: string;
  readonly dialer: Dialer;
  /** Required if the source of policies is `crd`. */
  readonly policyAdoption?: PolicyAdoption | undefined;
}

export class Manager {
  readonly lifecycle: NodeLifecycle;
  readonly informers: NodeInformers;
  /** Not one of {@link informers}, which a replica needs to be ready. Undefined: pods wait for no responder. */
  readonly #evictions: ReturnType<typeof makeEvictionInformer> | undefined;
  readonly #options: ManagerOptions;
  readonly #contact: ApiContact;
  /** Informers end as soon as the replica stops; the Event broadcaster ends when its queue is flushed. */
  readonly #watching = new AbortController();
  readonly #eventsStop = new AbortController();
  #eventsFlushed: Promise<void> | undefined;
  #broadcasterEnded: Promise<void> = Promise.resolve();
  #stopping = false;
  readonly #broadcaster: Broadcaster | undefined;
  readonly #elector: LeaderElector | undefined;
  readonly #shadow: ShadowMode | undefined;
  readonly #writeBlocker = new WriteBlocker();
  /** Undefined where policies come from the config file. */
  readonly #policyObjects: PolicyObjects | undefined;
  /** Writer of the status of policies; undefined without policies of the API and in shadow mode. */
  readonly #policyStatus: PolicyStatusWriter | undefined;
  /** The settings, with those of the schedules of policies in place. */
  readonly #scheduled: ScheduledPolicies<ManagerConfig>;
  #solo = false;

  constructor(given: ManagerOptions) {
    this.#scheduled = new ScheduledPolicies(given.config, given.clock);
    const options = { ...given, config: this.#scheduled };
    this.#options = options;
    this.#contact = new ApiContact(options.clock);
    const { apis } = options;
    const config = options.config.current();
    this.informers = makeInformers({ ...options, api: apis.main, contact: this.#contact }, config);
    this.#evictions = this.#makeEvictions();
    this.#broadcaster = this.#makeBroadcaster();
    this.#elector = config.leaderElect ? this.#makeElector() : undefined;
    this.#shadow = config.shadow ? this.#makeShadow() : undefined;
    this.lifecycle = new NodeLifecycle({
      ...options,
      options: options.config,
      controllers: config.controllers,
      podGc: options.config,
      informers: this.#shadow?.informers ?? this.informers,
      evictions: this.#evictions,
      isAutonomous: this.#autonomousNamespaces(),
      api: this.#shadow === undefined ? apis.main : this.#writeBlocker.readingOnly(apis.main),
      writer: this.#shadow?.writer,
      liveLeases: new ApiLiveLeases(apis.freshness, this.#watching.signal, this.#contact),
      canaryLease: this.#makeCanaryLease(),
      probing: this.#makeProbing(),
      leadership: this.#leadership(),
      recorders: {
        nodes: this.#recorder('node-controller'),
        evictions: this.#recorder('taint-eviction-controller'),
      },
    });
    this.#policyStatus = this.#makePolicyStatus();
    this.#policyObjects = this.#makePolicyObjects();
  }

  /** Whether a write may be sent now: only by the leader, and never in shadow mode. */
  mayWrite(): boolean {
    return this.#shadow === undefined ? this.#leadership().holds() : this.#writeBlocker.mayWrite();
  }

  /** Those that a replica needs to be ready, and to lead: while the labels of namespaces are not known, pods that may ask are kept. */
  get requiredInformers(): Omit<NodeInformers, 'autonomousNamespaces'> {
    const { autonomousNamespaces: _, ...required } = this.informers;
    return required;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Why the replica should be restarted; undefined while it should not. */
  problem(): string | undefined {
    return this.#elector?.problem();
  }

  /** The comparison so far; undefined if it does not run in shadow mode. */
  shadowReport(): ReturnType<ShadowMode['report']> | undefined {
    return this.#shadow?.report();
  }

  /** The readiness check of shadow mode; undefined in any other mode. */
  writeCheck(): ReturnType<WriteBlocker['check']> | undefined {
    return this.#shadow === undefined ? undefined : this.#writeBlocker.check();
  }

  /** The sizes of all collections that grow with the cluster, caches included. */
  sizes(): readonly CollectionSize[] {
    const { nodes, pods } = this.informers;
    return [
      ...this.lifecycle.sizes(),
      { collection: 'node-cache', per: 'node', entries: nodes.store.size },
      { collection: 'pod-cache', per: 'pod', entries: pods.store.size },
    ];
  }

  /** The options changed as listed, and {@link ManagerOptions.config} returns the new ones already. */
  optionsChanged(changes: readonly SettingChange[]): void {
    this.#scheduled.noteGiven();
    this.lifecycle.optionsChanged(changes);
  }

  async #followSchedules(): Promise<void> {
    for await (const changes of this.#scheduled.run(this.#watching.signal)) this.lifecycle.optionsChanged(changes);
  }

  /** Settings changed on which it depends whether a policy object is valid. */
  recheckPolicyObjects(): void {
    this.#policyObjects?.evaluate();
  }

  /** What the watches had received before may be of a storage that was restored meanwhile, and has passed their versions. */
  async #followSuspends(): Promise<void> {
    for await (const _ of suspends(this.#options.clock, this.#watching.signal)) this.#onRollback();
  }

  /** Runs until the signal aborts (`stopped`) or leadership is lost (`lost`). Nothing keeps running afterwards. */
  async run(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const watching = Object.values(this.informers).map((informer) => informer.run(this.#watching.signal));
    if (this.#evictions !== undefined) watching.push(this.#evictions.run(this.#watching.signal));
    if (this.#policyObjects !== undefined) watching.push(this.#policyObjects.run(this.#watching.signal));
    watching.push(this.#followSchedules(), this.#followSuspends());
    this.#broadcasterEnded = this.#broadcaster?.run(this.#eventsStop.signal) ?? Promise.resolve();
    signal.addEventListener('abort', () => this.#beginStopping());
    try {
      await this.#observeUntilSynced(signal);
      return await this.#lead(signal);
    } finally {
      this.#beginStopping();
      this.#watching.abort();
      await Promise.all(watching);
      await this.#flushEvents();
    }
  }

  /** The state for the explain pages, read again at each request. */
  snapshot(configFile: () => ConfigFileReport | undefined): Snapshot {
    return new LiveSnapshot({ ...this.#reportSources(), configFile });
  }

  /** The dashboard, which the caller runs. To be called before {@link run}. */
  dashboard(page: Pick<DashboardSources, 'server' | 'requestsTotal'>): DashboardKeeper {
    const { logger } = this.#options;
    return new DashboardKeeper({
      ...this.#reportSources(),
      ...page,
      stages: this.lifecycle.stages,
      shadowReport: () => this.shadowReport(),
      logger,
    });
  }

  #reportSources(): ReportSources {
    const { clock, identity, config } = this.#options;
    const { policies, autonomousNamespaces } = this.informers;
    const others = { ...(policies && { policies }), ...(autonomousNamespaces && { autonomousNamespaces }) };
    return {
      options: config,
      controllers: config.current().controllers,
      podGc: config,
      stages: this.lifecycle.stages,
      informers: { ...(this.#shadow?.informers ?? this.informers), ...others },
      shadow: this.#shadow !== undefined,
      policyObjects: () => this.#policyObjects && buildPolicyObjectsReport(this.#policyObjects.assessments),
      leadership: this.#leadership(),
      holder: () => (this.#elector === undefined ? identity : this.#elector.holder()),
      clock,
    };
  }

  #beginStopping(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#options.logger.info({}, 'stopping');
  }

  /** Stops the broadcaster: each queued Event gets one more attempt while this replica leads; the rest is dropped. */
  #flushEvents(): Promise<void> {
    this.#eventsFlushed ??= this.#stopBroadcaster();
    return this.#eventsFlushed;
  }

  async #stopBroadcaster(): Promise<void> {
    this.#eventsStop.abort();
    await this.#broadcasterEnded;
    await this.#broadcaster?.flush(this.#leadership().holds() ? flushMsMax : 0);
  }

  async #observeUntilSynced(signal: AbortSignal): Promise<void> {
    const syncing = new LinkedAbort(signal);
    const observing = this.#elector?.observe(syncing.signal);
    await this.#untilSynced(signal);
    syncing.abort();
    syncing.release();
    await observing;
  }

  async #untilSynced(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const informers = Object.values(this.requiredInformers);
    while (!signal.aborted) {
      const missing = await waitForCacheSync(informers, { clock, signal, timeoutMs: syncWarnMs });
      if (missing.length === 0) {
        // Nothing is decided before the policies are in force.
        await this.#policyObjects?.settle(signal);
        return logger.info({}, 'caches are in sync');
      }
      const errors = informers.map((informer) => informer.status().lastError).filter((error) => error !== undefined);
      logger.warn({ missing, errors }, 'still waiting for caches to sync');
    }
  }

  async #lead(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    if (this.#elector !== undefined) return this.#leadAfterStandby(this.#elector, signal);
    this.#solo = true;
    await this.#work(signal);
    await this.#flushEvents();
    this.#solo = false;
    return 'stopped';
  }

  async #leadAfterStandby(elector: LeaderElector, signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const standby = new LinkedAbort(signal);
    const standingBy = this.lifecycle.standBy(standby.signal);
    try {
      return await elector.run(signal, (leading) => {
        standby.abort();
        return this.#work(leading);
      });
    } finally {
      standby.abort();
      standby.release();
      await standingBy;
    }
  }

  /** Runs while this replica leads. At the end the loops stop before the informers, so that they never act on a stale cache. */
  async #work(leading: AbortSignal): Promise<Ending> {
    const { logger } = this.#options;
    logger.info({}, this.#shadow === undefined ? 'leading' : 'running in shadow mode; nothing is written');
    const working = Promise.all([
      this.lifecycle.lead(leading),
      this.#shadow?.run(leading),
      this.#policyStatus?.run(leading),
    ]);
    const end = (): void => {
      this.#beginStopping();
      this.#watching.abort();
    };
    if (leading.aborted) end();
    leading.addEventListener('abort', end);
    const [ending] = await working;
    return ending;
  }

  #makeBroadcaster(): Broadcaster | undefined {
    const { apis, config, host, ...common } = this.#options;
    if (apis.writing === undefined) return undefined;
    const { eventsApi } = config.current();
    const source = eventsApi === 'core' ? {} : { host };
    return makeBroadcaster(eventsApi, { ...common, ...source, api: apis.writing.events });
  }

  #recorder(component: string): EventRecorder {
    return this.#broadcaster?.recorder(component) ?? silentRecorder;
  }

  #makeCanaryLease(): ApiCanaryLease | undefined {
    const { config, apis, clock, identity } = this.#options;
    if (!config.current().watchCanary || apis.writing === undefined) return undefined;
    return new ApiCanaryLease(apis.writing.canary, clock, identity);
  }

  /** None for a shadow: kube-controller-manager waits for the grace period. */
  #makeProbing(): Probing | undefined {
    const { apis, clock, identity, place, dialer } = this.#options;
    if (apis.writing === undefined) return undefined;
    return { dialer, reports: new ApiWitnessReports(apis.writing.witness, clock, { identity, place }) };
  }

  /** Undefined: the labels of namespaces do not count. */
  #autonomousNamespaces(): ((namespace: string) => boolean | undefined) | undefined {
    const { autonomousNamespaces: informer } = this.informers;
    const { clock } = this.#options;
    return informer && ((namespace) => isAutonomous(namespace, informer, clock.monotonicMs()));
  }

  /** None for a shadow, which compares what both would do: kube-controller-manager waits for no responder. */
  #makeEvictions(): ReturnType<typeof makeEvictionInformer> | undefined {
    const { apis } = this.#options;
    const config = this.#options.config.current();
    const isEvicting = !config.shadow && runningParts(config.controllers, config).taintEviction;
    return isEvicting && config.waitForEvictionResponders
      ? makeEvictionInformer({ ...this.#options, api: apis.main, contact: this.#contact })
      : undefined;
  }

  #makePolicyObjects(): PolicyObjects | undefined {
    const { policyAdoption } = this.#options;
    const { policies: informer, nodes } = this.informers;
    if (informer === undefined) return undefined;
    // Without it the replica would act as if there were no policies.
    if (policyAdoption === undefined) throw new Error('policyAdoption: required if the source of policies is crd');
    const onChange = (): void => this.#policyStatus?.wakeUp();
    const options = { ...this.#options, ...policyAdoption, informer, nodes: () => nodes.store.values() };
    return new PolicyObjects({ ...options, onChange });
  }

  #makePolicyStatus(): PolicyStatusWriter | undefined {
    const api = this.#options.apis.writing?.policyStatus;
    const { policies, nodes, pods } = this.informers;
    if (api === undefined || policies === undefined) return undefined;
    const { stages } = this.lifecycle;
    return new PolicyStatusWriter({
      ...this.#options,
      api,
      leadership: this.#leadership(),
      recorder: this.#recorder('node-lifecycle-controller'),
      store: policies.store,
      assessments: () => this.#policyObjects?.assessments ?? new Map(),
      figures: () => countPolicyFigures({ stages, nodes: nodes.store, pods: pods.store }),
    });
  }

  #makeElector(): LeaderElector | undefined {
    const { apis, identity, logger } = this.#options;
    if (apis.writing === undefined) return undefined;
    const config = this.#options.config.current();
    return new LeaderElector({
      ...this.#options,
      api: apis.writing.election,
      contact: this.#contact,
      identity,
      namespace: config.leaderElectResourceNamespace,
      name: config.leaderElectResourceName,
      leaseDurationMs: config.leaderElectLeaseDurationMs,
      renewDeadlineMs: config.leaderElectRenewDeadlineMs,
      retryPeriodMs: config.leaderElectRetryPeriodMs,
      recorder: this.#recorder('node-lifecycle-controller'),
      onNewLeader: (leader) => logger.info({ leader, isSelf: leader === identity }, 'the leader changed'),
      onRollback: () => this.#onRollback(),
      beforeRelease: () => this.#flushEvents(),
    });
  }

  /** A watch at a version that the storage does not have yet is silent until it has, and what happened before is lost. */
  #onRollback(): void {
    this.#options.logger.warn(
      {},
      'the storage was restored from a backup, or its history is unknown; listing all resources again',
    );
    for (const informer of Object.values(this.informers)) informer.noticeRollback();
    this.#evictions?.noticeRollback();
  }

  /** Leadership of the replica: without leader election a running replica leads. */
  #leadership(): Leadership {
    return this.#elector ?? { holds: () => this.#solo };
  }

  #makeShadow(): ShadowMode {
    const config = this.#options.config.current();
    return new ShadowMode({
      ...this.#options,
      informers: this.informers,
      options: this.#options.config,
      runs: runningParts(config.controllers, config),
      decisionsOf: (subject) =>
        this.lifecycle.stages.decisions
          .of(subject)
          .map(({ atMs, decision }) => ({ atMs, decision, text: describeDecision(decision) })),
    });
  }
}

/** Discards all Events, because an Event is a write. */
const silentRecorder: EventRecorder = { record: () => undefined };
