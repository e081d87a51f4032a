// The controller with the real things behind its doors, in the order in which they start: pages, informers, election,
// and as leader the stages. Down: not ready, loops, informers, writes under way, events; the lease is given back when
// nothing of ours can write any more, and the connections end last.
import { hostname } from 'node:os';
import type { Connection } from '../adapters/http-connection.ts';
import { ApiCanaryLease } from '../adapters/api-canary-lease.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from '../adapters/http-kube-api.ts';
import { httpMetrics } from '../adapters/http-metrics.ts';
import { type RunningObservability, startObservability } from '../adapters/observability-server.ts';
import { PQueueLanes } from '../adapters/p-queue-lanes.ts';
import type { PromMeter } from '../adapters/prom-meter.ts';
import type { MetricDefinition } from '../ports/meter.ts';
import { type DaemonSet, type DaemonSetView, viewDaemonSet } from '../api/daemonset.ts';
import { type Lease, type LeaseView, viewLease } from '../api/lease.ts';
import { type Node, type NodeView, viewNode } from '../api/node.ts';
import { type Pod, type PodView, viewPod } from '../api/pod.ts';
import { nodeLeaseNamespace } from '../api/resources.ts';
import { controllerMetrics, daemonSetsByNamespace, NodeLifecycle, podsByNode } from '../controller/node-lifecycle.ts';
import { LiveSnapshot, type Snapshot } from '../controller/snapshot.ts';
import { ApiLiveLeases } from '../controller/sight/api-live-leases.ts';
import { planLeaseQuiet } from '../controller/sight/plan-lease-quiet.ts';
import { LeaderElector } from '../election/leader-elector.ts';
import { masterStatus, slowpathTotal } from '../election/metrics.ts';
import type { Broadcaster } from '../events/broadcaster.ts';
import { makeBroadcaster } from '../events/events-api.ts';
import { eventsDroppedTotal } from '../events/metrics.ts';
import { informerMetrics } from '../informer/metrics.ts';
import { SharedInformer } from '../informer/shared-informer.ts';
import { waitForCacheSync } from '../informer/wait-for-cache-sync.ts';
import { announceBuild } from '../metrics/build-info.ts';
import { processMetrics } from '../metrics/definitions.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ending, Leadership } from '../ports/leadership.ts';
import type { Logger } from '../ports/logger.ts';
import type { Random } from '../ports/random.ts';
import type { ControllerConfig } from './controller-config.ts';
import { explainRoutes } from './explain-pages.ts';
import { type HealthChecks, healthRoutes } from './health-pages.ts';
import { configzRoute, metricsRoute } from './metrics-pages.ts';
import { ownVersion, userAgent } from './version.ts';

/** The election talks on a connection and a rate of its own: a burst of writes must not cost the lease. */
const electionRate = { qps: 10, burst: 20 } as const;
const electionTimeoutMs = 10_000;
const eventRate = { qps: 10, burst: 20 } as const;
/** Asking whether the API server is there must not wait behind what it is not answering. */
const sightRate = { qps: 20, burst: 40 } as const;
const sightTimeoutMs = 5_000;
/** A write every few seconds needs no limit. */
const unlimited = { qps: 0, burst: 0 } as const;
const flushMsMax = 2_000;
const syncWarnMs = 10_000;

/** Every metric that the controller process exposes. */
export const controllerProcessMetrics: readonly MetricDefinition[] = [
  ...processMetrics,
  ...controllerMetrics,
  ...informerMetrics,
  eventsDroppedTotal,
  masterStatus,
  slowpathTotal,
  ...httpMetrics,
];

export interface ControllerProcessOptions {
  readonly config: ControllerConfig;
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
  readonly #apis: Readonly<Record<'main' | 'events' | 'election' | 'sight' | 'canary', HttpKubeApi>>;
  /** Reading the cluster ends as soon as we stop; telling of it goes on until all is told. */
  readonly #watching = new AbortController();
  readonly #telling = new AbortController();
  #toldAll: Promise<void> | undefined;
  #tellingEnded: Promise<void> = Promise.resolve();
  #stopping = false;
  readonly #informers: NodeInformers;
  readonly #broadcaster: Broadcaster;
  readonly #elector: LeaderElector | undefined;
  #solo = false;

  constructor(options: ControllerProcessOptions) {
    const { config, meter } = options;
    this.#options = options;
    meter.declare(controllerProcessMetrics);
    announceBuild(meter, { version: ownVersion(), nodeVersion: process.versions.node });
    const { requestsPerSecond: qps, requestBurst: burst, contentType } = config.api;
    this.#apis = {
      main: this.#makeApi({ qps, burst, contentType, mayWrite: () => this.#leadership().holds() }),
      // An event is a write like any other: one that waited while we were paused is not ours to tell any more.
      events: this.#makeApi({ ...eventRate, mayWrite: () => this.#leadership().holds() }),
      // The elector repeats by itself, and knows when it is too late to. It writes back the lease that it read, so it
      // reads all of it, as JSON.
      election: this.#makeApi({
        ...electionRate,
        retriesMax: 0,
        requestTimeoutMs: Math.min(electionTimeoutMs, config.leaderElection.renewDeadlineMs),
      }),
      canary: this.#makeApi({
        ...unlimited,
        retriesMax: 0,
        requestTimeoutMs: sightTimeoutMs,
        mayWrite: () => this.#leadership().holds(),
      }),
      sight: this.#makeApi({ ...sightRate, contentType, retriesMax: 0, requestTimeoutMs: sightTimeoutMs }),
    };
    this.#informers = makeInformers({ ...options, api: this.#apis.main }, config.controller.taintBasedEvictions);
    this.#broadcaster = this.#makeBroadcaster();
    this.#elector = config.leaderElection.enabled ? this.#makeElector() : undefined;
    this.lifecycle = new NodeLifecycle({
      ...options,
      options: config.controller,
      controllers: config.controllers,
      podGc: config.podGc,
      informers: this.#informers,
      api: this.#apis.main,
      liveLeases: new ApiLiveLeases(this.#apis.sight, this.#watching.signal),
      canaryLease: config.watchCanary
        ? new ApiCanaryLease(this.#apis.canary, options.clock, options.identity)
        : undefined,
      lanes: new PQueueLanes({ concurrencyMax: config.api.concurrentWritesMax }),
      leadership: this.#leadership(),
      recorders: {
        nodes: this.#broadcaster.recorder('node-controller'),
        evictions: this.#broadcaster.recorder('taint-eviction-controller'),
      },
    });
  }

  /** Runs until the signal aborts (`stopped`) or leadership is lost (`lost`); then nothing is left running. */
  async run(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const pages = await this.#startPages();
    const watching = Object.values(this.#informers).map((informer) => informer.run(this.#watching.signal));
    this.#tellingEnded = this.#broadcaster.run(this.#telling.signal);
    signal.addEventListener('abort', () => this.#beginStopping());
    try {
      await this.#untilSynced(signal);
      return await this.#lead(signal);
    } finally {
      this.#beginStopping();
      this.#watching.abort();
      await Promise.all(watching);
      await this.#tellRest();
      await Promise.all(Object.values(this.#apis).map((api) => api.close()));
      await pages.close();
      this.#options.logger.info({}, 'stopped');
    }
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
    await this.#broadcaster.flush(this.#leadership().holds() ? flushMsMax : 0);
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
    this.#options.logger.info({}, 'leading');
    const working = this.lifecycle.lead(leading);
    const end = (): void => {
      this.#beginStopping();
      this.#watching.abort();
    };
    if (leading.aborted) end();
    leading.addEventListener('abort', end);
    return working;
  }

  async #startPages(): Promise<RunningObservability> {
    const { config, logger, meter } = this.#options;
    const { metricsBindAddress, healthProbeBindAddress } = config;
    const pages = await startObservability({
      metrics: {
        address: metricsBindAddress,
        routes: [
          metricsRoute(meter),
          configzRoute('node-lifecycle-controller', config),
          ...explainRoutes(this.#snapshot()),
        ],
      },
      health: { address: healthProbeBindAddress, routes: healthRoutes(this.#healthChecks()) },
      logger,
    });
    if (pages.metricsAddress !== undefined) logger.info({ ...pages.metricsAddress }, 'serving /metrics');
    if (pages.healthAddress !== undefined) logger.info({ ...pages.healthAddress }, 'serving /livez and /readyz');
    return pages;
  }

  /** What the explain pages read; it looks anew at each request. */
  #snapshot(): Snapshot {
    const { config, clock, identity } = this.#options;
    return new LiveSnapshot({
      options: config.controller,
      controllers: config.controllers,
      podGc: config.podGc,
      stages: this.lifecycle.stages,
      informers: this.#informers,
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
      ready: [...inSync, shutdown],
    };
  }

  /** In core/v1 controllers name no host; events.k8s.io/v1 asks for the instance that told. */
  #makeBroadcaster(): Broadcaster {
    const { eventsApi } = this.#options.config.api;
    const host = eventsApi === 'core' ? {} : { host: hostname() };
    return makeBroadcaster(eventsApi, { ...this.#options, ...host, api: this.#apis.events });
  }

  #makeElector(): LeaderElector {
    const { config, identity, logger } = this.#options;
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, leaseName, leaseNamespace } = config.leaderElection;
    return new LeaderElector({
      ...this.#options,
      api: this.#apis.election,
      identity,
      namespace: leaseNamespace,
      name: leaseName,
      leaseDurationMs,
      renewDeadlineMs,
      retryPeriodMs,
      recorder: this.#broadcaster.recorder('node-lifecycle-controller'),
      onNewLeader: (leader) => logger.info({ leader, ourselves: leader === identity }, 'the leader changed'),
      lastWords: () => this.#tellRest(),
    });
  }

  /** Without an election whoever runs leads. */
  #leadership(): Leadership {
    return this.#elector ?? { holds: () => this.#solo };
  }

  #makeApi(differences: Pick<HttpKubeApiOptions, 'qps' | 'burst'> & Partial<HttpKubeApiOptions>): HttpKubeApi {
    const fieldManager = 'node-lifecycle-controller';
    return new HttpKubeApi({ ...this.#options, userAgent: userAgent('controller'), fieldManager, ...differences });
  }
}

interface NodeInformers {
  readonly nodes: SharedInformer<Node, NodeView>;
  readonly leases: SharedInformer<Lease, LeaseView>;
  readonly pods: SharedInformer<Pod, PodView>;
  /** In the older eviction mode only: nobody else asks for them. */
  readonly daemonSets?: SharedInformer<DaemonSet, DaemonSetView>;
}

type InformerMeans = Pick<ControllerProcessOptions, 'clock' | 'random' | 'logger' | 'meter'> & {
  readonly api: HttpKubeApi;
};

function makeInformers(means: InformerMeans, taintBasedEvictions: boolean): NodeInformers {
  const identity = (view: { readonly uid: string; readonly resourceVersion: string }) => view;
  const flawsOf = ({ flaws }: { readonly flaws?: readonly string[] }): typeof flaws => flaws;
  const nodes = new SharedInformer({
    ...means,
    resource: 'nodes',
    view: viewNode,
    identity,
    flawsOf,
  });
  const leases = new SharedInformer({
    ...means,
    resource: 'leases',
    selection: { namespace: nodeLeaseNamespace },
    view: viewLease,
    identity,
    flawsOf,
    busyQuietMs: planLeaseQuiet,
  });
  const pods = new SharedInformer({
    ...means,
    resource: 'pods',
    view: viewPod,
    identity,
    flawsOf,
    shared: ['namespace', 'nodeName', 'tolerations', 'labels'],
    indexes: { [podsByNode]: (pod: PodView) => (pod.nodeName === '' ? [] : [pod.nodeName]) },
  });
  return taintBasedEvictions ? { nodes, leases, pods } : { nodes, leases, pods, daemonSets: daemonSetInformer(means) };
}

function daemonSetInformer(means: InformerMeans): SharedInformer<DaemonSet, DaemonSetView> {
  return new SharedInformer({
    ...means,
    resource: 'daemonsets',
    view: viewDaemonSet,
    identity: (view) => view,
    shared: ['namespace', 'selector'],
    indexes: { [daemonSetsByNamespace]: ({ namespace }) => [namespace] },
  });
}
