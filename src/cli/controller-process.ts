// The controller with the real things behind its doors, in the order in which they start: pages, informers, election,
// and as leader the stages. Down: not ready, loops, informers, writes under way, events; the lease is given back when
// nothing of ours can write any more, and the connections end last.
import { hostname } from 'node:os';
import type { Connection } from '../adapters/http-connection.ts';
import { ApiCanaryLease } from '../adapters/api-canary-lease.ts';
import type { RunningObservability } from '../adapters/observability-server.ts';
import { PQueueLanes } from '../adapters/p-queue-lanes.ts';
import type { PromMeter } from '../adapters/prom-meter.ts';
import type { SettingChange } from '../controller/decisions.ts';
import { NodeLifecycle, podsByNode } from '../controller/node-lifecycle.ts';
import { describeDecision } from '../controller/describe-decision.ts';
import { runningParts } from '../controller/options.ts';
import { ShadowMode } from '../controller/shadow/shadow-mode.ts';
import { LiveSnapshot, type Snapshot } from '../controller/snapshot.ts';
import { ApiLiveLeases } from '../controller/sight/api-live-leases.ts';
import { LeaderElector } from '../election/leader-elector.ts';
import type { Broadcaster } from '../events/broadcaster.ts';
import { makeBroadcaster } from '../events/events-api.ts';
import { waitForCacheSync } from '../informer/wait-for-cache-sync.ts';
import { announceBuild } from '../metrics/build-info.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Ending, Leadership } from '../ports/leadership.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import { ConfigInForce } from './config-in-force.ts';
import { type ConfigFileSource, ConfigReloader } from './config-reloader.ts';
import { makeReadingApis, makeWritingApis, type ReadingApis, type WritingApis } from './controller-apis.ts';
import type { ControllerConfig } from './controller-config.ts';
import { makeInformers, type NodeInformers } from './controller-informers.ts';
import { everyProcessMetrics } from './controller-metrics.ts';
import { startControllerPages } from './controller-pages.ts';
import { explainRoutes } from './explain-pages.ts';
import { type HealthChecks, healthRoutes } from './health-pages.ts';
import { configzRoute, metricsRoute } from './metrics-pages.ts';
import { shadowRoute, ShutDoor, silentRecorder } from './shadow.ts';
import { ownVersion } from './version.ts';

/** Somebody waits for our lease. */
const flushMsMax = 500;
const syncWarnMs = 10_000;

export interface ControllerProcessOptions {
  readonly config: ControllerConfig;
  /** Where the config came from, to be taken up again when it changes; absent: it never does. */
  readonly configFile?: ConfigFileSource | undefined;
  /** Told of each config that comes into force later. */
  readonly onConfig?: ((config: ControllerConfig) => void) | undefined;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: PromMeter;
  /** Ours alone among all replicas, ever. */
  readonly identity: string;
}

export class ControllerProcess {
  readonly lifecycle: NodeLifecycle;
  readonly #options: ControllerProcessOptions;
  readonly #inForce: ConfigInForce;
  readonly #reloader: ConfigReloader | undefined;
  readonly #apis: ReadingApis;
  /** In shadow there are none. */
  readonly #writing: WritingApis | undefined;
  /** Reading the cluster ends as soon as we stop; telling of it goes on until all is told. */
  readonly #watching = new AbortController();
  readonly #telling = new AbortController();
  #toldAll: Promise<void> | undefined;
  #tellingEnded: Promise<void> = Promise.resolve();
  #stopping = false;
  readonly #informers: NodeInformers;
  readonly #broadcaster: Broadcaster | undefined;
  readonly #elector: LeaderElector | undefined;
  readonly #shadow: ShadowMode | undefined;
  readonly #shutDoor = new ShutDoor();
  #solo = false;

  constructor(given: ControllerProcessOptions) {
    const { config, meter, logger } = given;
    // What a shadow decides must not be taken for what was done, in whichever line it stands.
    const options = config.shadow ? { ...given, logger: logger.child({ shadow: true }) } : given;
    this.#options = options;
    this.#inForce = new ConfigInForce(config);
    meter.declare(everyProcessMetrics);
    this.#reloader = this.#makeReloader();
    announceBuild(meter, { version: ownVersion(), nodeVersion: process.versions.node });
    const mayWrite = config.shadow ? this.#shutDoor.mayWrite : (): boolean => this.#leadership().holds();
    this.#apis = makeReadingApis(options, mayWrite);
    this.#writing = config.shadow ? undefined : makeWritingApis(options, mayWrite);
    this.#informers = makeInformers({ ...options, api: this.#apis.main }, config.controller.taintBasedEvictions);
    this.#broadcaster = this.#makeBroadcaster();
    this.#elector = config.leaderElection.enabled ? this.#makeElector() : undefined;
    this.#shadow = config.shadow ? this.#makeShadow() : undefined;
    this.lifecycle = new NodeLifecycle({
      ...options,
      options: this.#inForce.controller,
      controllers: config.controllers,
      podGc: this.#inForce.podGc,
      informers: this.#shadow?.informers ?? this.#informers,
      api: this.#shadow === undefined ? this.#apis.main : this.#shutDoor.readingOnly(this.#apis.main),
      writer: this.#shadow?.writer,
      liveLeases: new ApiLiveLeases(this.#apis.sight, this.#watching.signal),
      canaryLease: this.#makeCanaryLease(),
      lanes: new PQueueLanes({ concurrencyMax: config.api.concurrentWritesMax }),
      leadership: this.#leadership(),
      recorders: {
        nodes: this.#recorder('node-controller'),
        evictions: this.#recorder('taint-eviction-controller'),
      },
    });
  }

  /** Runs until the signal aborts (`stopped`) or leadership is lost (`lost`); then nothing is left running. */
  async run(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const pages = await this.#startPages();
    const watching = Object.values(this.#informers).map((informer) => informer.run(this.#watching.signal));
    // Leading or not: who takes over does so by the newest settings.
    if (this.#reloader !== undefined) watching.push(this.#reloader.run(this.#watching.signal));
    this.#tellingEnded = this.#broadcaster?.run(this.#telling.signal) ?? Promise.resolve();
    signal.addEventListener('abort', () => this.#beginStopping());
    try {
      await this.#untilSynced(signal);
      return await this.#lead(signal);
    } finally {
      this.#beginStopping();
      this.#watching.abort();
      await Promise.all(watching);
      await this.#tellRest();
      await Promise.all(Object.values({ ...this.#apis, ...this.#writing }).map((api) => api.close()));
      await pages.close();
      this.#options.logger.info({}, 'stopped');
    }
  }

  #makeReloader(): ConfigReloader | undefined {
    const { configFile: file, onConfig, clock, logger, meter } = this.#options;
    if (file === undefined) return undefined;
    const adopt = (config: ControllerConfig, applied: readonly SettingChange[]): void => {
      this.#inForce.adopt(config);
      onConfig?.(config);
      this.lifecycle.optionsChanged(applied);
    };
    return new ConfigReloader({ file, adopt, clock, logger, meter });
  }

  #beginStopping(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#options.logger.info({}, 'stopping');
  }

  /** Ends the telling: what waits gets one more try each while we may write, and what is left then is dropped. */
  #tellRest(): Promise<void> {
    this.#toldAll ??= this.#endTelling();
    return this.#toldAll;
  }

  async #endTelling(): Promise<void> {
    this.#telling.abort();
    await this.#tellingEnded;
    await this.#broadcaster?.flush(this.#leadership().holds() ? flushMsMax : 0);
  }

  async #untilSynced(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const informers = Object.values(this.#informers);
    while (!signal.aborted) {
      const missing = await waitForCacheSync(informers, { clock, signal, timeoutMs: syncWarnMs });
      if (missing.length === 0) return logger.info({}, 'caches are in sync');
      const errors = informers.map((informer) => informer.status().lastError).filter((error) => error !== undefined);
      logger.warn({ missing, errors }, 'still waiting for caches to sync');
    }
  }

  async #lead(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    if (this.#elector !== undefined) return this.#elector.run(signal, (leading) => this.#work(leading));
    this.#solo = true;
    await this.#work(signal);
    await this.#tellRest();
    this.#solo = false;
    return 'stopped';
  }

  /** The leader's part. First its loops hear that it is over, then the informers: nothing they miss is acted upon. */
  async #work(leading: AbortSignal): Promise<Ending> {
    const { logger } = this.#options;
    logger.info({}, this.#shadow === undefined ? 'leading' : 'in shadow: nothing is written');
    const working = Promise.all([this.lifecycle.lead(leading), this.#shadow?.run(leading)]);
    const end = (): void => {
      this.#beginStopping();
      this.#watching.abort();
    };
    if (leading.aborted) end();
    leading.addEventListener('abort', end);
    const [ending] = await working;
    return ending;
  }

  #startPages(): Promise<RunningObservability> {
    return startControllerPages({
      ...this.#options,
      reviewApi: this.#apis.reviews,
      metricsRoutes: [
        metricsRoute(this.#options.meter),
        configzRoute('node-lifecycle-controller', () => this.#inForce.config),
        ...explainRoutes(this.#snapshot()),
        shadowRoute(() => this.#shadow?.report()),
      ],
      healthRoutes: healthRoutes(this.#healthChecks()),
    });
  }

  /** What the explain pages read; it looks anew at each request. */
  #snapshot(): Snapshot {
    const { config, clock, identity } = this.#options;
    return new LiveSnapshot({
      options: this.#inForce.controller,
      controllers: config.controllers,
      podGc: this.#inForce.podGc,
      stages: this.lifecycle.stages,
      informers: this.#shadow?.informers ?? this.#informers,
      shadow: this.#shadow !== undefined,
      configFile: () => this.#reloader?.standing(),
      leadership: this.#leadership(),
      holder: () => (this.#elector === undefined ? identity : this.#elector.holder()),
      clock,
    });
  }

  /** A standby that is in sync is ready: it can take over. Who is on the way out is not. */
  #healthChecks(): HealthChecks {
    const inSync = Object.values(this.#informers).map((informer) => ({
      name: `informer-sync-${informer.name}`,
      problem: () => (informer.hasSynced() ? undefined : (informer.status().lastError ?? 'not in sync yet')),
    }));
    const shutdown = { name: 'shutdown', problem: () => (this.#stopping ? 'the process is ending' : undefined) };
    return {
      live: [{ name: 'leaderElection', problem: () => this.#elector?.problem() }],
      ready: [...inSync, shutdown, ...(this.#shadow === undefined ? [] : [this.#shutDoor.check()])],
    };
  }

  /** In core/v1 controllers name no host; events.k8s.io/v1 asks for the instance that told. */
  #makeBroadcaster(): Broadcaster | undefined {
    if (this.#writing === undefined) return undefined;
    const { eventsApi } = this.#options.config.api;
    const host = eventsApi === 'core' ? {} : { host: hostname() };
    return makeBroadcaster(eventsApi, { ...this.#options, ...host, api: this.#writing.events });
  }

  #recorder(component: string): EventRecorder {
    return this.#broadcaster?.recorder(component) ?? silentRecorder;
  }

  #makeCanaryLease(): ApiCanaryLease | undefined {
    const { config, clock, identity } = this.#options;
    if (!config.watchCanary || this.#writing === undefined) return undefined;
    return new ApiCanaryLease(this.#writing.canary, clock, identity);
  }

  #makeElector(): LeaderElector | undefined {
    if (this.#writing === undefined) return undefined;
    const { config, identity, logger } = this.#options;
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, leaseName, leaseNamespace } = config.leaderElection;
    return new LeaderElector({
      ...this.#options,
      api: this.#writing.election,
      identity,
      namespace: leaseNamespace,
      name: leaseName,
      leaseDurationMs,
      renewDeadlineMs,
      retryPeriodMs,
      recorder: this.#recorder('node-lifecycle-controller'),
      onNewLeader: (leader) => logger.info({ leader, ourselves: leader === identity }, 'the leader changed'),
      lastWords: () => this.#tellRest(),
    });
  }

  /** Without an election whoever runs leads. */
  #leadership(): Leadership {
    return this.#elector ?? { holds: () => this.#solo };
  }

  #makeShadow(): ShadowMode {
    const { config } = this.#options;
    return new ShadowMode({
      ...this.#options,
      informers: this.#informers,
      podsByNode,
      options: this.#inForce.controller,
      runs: runningParts(config.controllers, config.controller),
      decisionsOf: (subject) =>
        this.lifecycle.stages.decisions
          .of(subject)
          .map(({ atMs, decision }) => ({ atMs, decision, text: describeDecision(decision) })),
    });
  }
}
