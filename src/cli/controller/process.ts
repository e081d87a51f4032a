// The controller process: a replica of the controller with its connections and pages. Order of start: pages, then the
// replica; order of shutdown: the replica, connections, pages.
import { hostname } from 'node:os';
import type { Connection } from '../../machinery/kube-client/connection.ts';
import type { RunningObservability } from '../../machinery/page-server/observability-server.ts';
import { policyObjectName } from '../../machinery/api/node-lifecycle-policy.ts';
import { PQueueLanes } from '../../machinery/adapters/p-queue-lanes.ts';
import type { PromMeter } from '../../machinery/adapters/prom-meter.ts';
import { tcpDialer } from '../../machinery/adapters/tcp-dialer.ts';
import type { SettingChange } from '../../controller/model/decisions.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import { Manager } from '../../manager/manager.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { Random } from '../../machinery/ports/random.ts';
import { type ConfigFileSource, ConfigReloader } from './config-reloader.ts';
import { makeReadingApis, makeWritingApis, type ReadingApis, type WritingApis } from './apis.ts';
import { diffPolicies } from '../../policy/schema/describe-policy.ts';
import type { ControllerConfig } from './config.ts';
import { ControllerDashboard, type DashboardAssets } from './dashboard.ts';
import { readPolicyUnder, validateWithPolicies, withPoliciesInForce } from './policy-objects-config.ts';
import { announceBuild, everyProcessMetrics } from './metrics.ts';
import { startControllerPages } from '../pages/controller-pages.ts';
import { explainRoutes, shadowRoute } from '../pages/explain-pages.ts';
import type { DashboardSource } from '../../dashboard/server/dashboard-source.ts';
import type { Snapshot } from '../../controller/report/snapshot.ts';
import { type HealthChecks, healthRoutes } from '../pages/health-pages.ts';
import { listRoutes } from '../pages/list-pages.ts';
import { configzRoute, metricsRoute } from '../pages/metrics-pages.ts';
import { ownVersion } from '../io/version.ts';

interface ControllerProcessOptions extends Ambient {
  readonly config: ControllerConfig;
  /** The config file, to reload it when it changes; absent: there is none. */
  readonly configFile?: ConfigFileSource | undefined;
  /** Called with each reloaded configuration. */
  readonly onConfig?: ((config: ControllerConfig) => void) | undefined;
  readonly connection: Connection;
  readonly random: Random;
  readonly meter: PromMeter;
  /** Unique among all replicas and restarts. */
  readonly identity: string;
  /** The node on which it runs; empty: not known. */
  readonly place: string;
  /** The files of the dashboard's page; absent: its events only. */
  readonly dashboardAssets?: DashboardAssets | undefined;
}

export class ControllerProcess {
  readonly manager: Manager;
  /** The state for the explain pages. */
  readonly snapshot: Snapshot;
  readonly #dashboard: ControllerDashboard;
  readonly #options: ControllerProcessOptions;
  /** The current configuration, replaced as a whole by a reload. */
  #config: ControllerConfig;
  readonly #reloader: ConfigReloader | undefined;
  readonly #apis: ReadingApis;
  /** Undefined in shadow mode. */
  readonly #writing: WritingApis | undefined;

  constructor(given: ControllerProcessOptions) {
    const { config, meter, logger } = given;
    // Every log line of a process in shadow mode is marked, because its decisions are not carried out.
    const options = config.shadow ? { ...given, logger: logger.child({ shadow: true }) } : given;
    this.#options = options;
    this.#config = config;
    meter.declare(everyProcessMetrics);
    this.#reloader = this.#makeReloader();
    announceBuild(meter, { version: ownVersion(), nodeVersion: process.versions.node });
    const replica = {
      mayWrite: () => this.manager.mayWrite(),
      receiver: {
        decidesBy: (monotonicMs: number) => this.manager.lifecycle.hasDeadlineBy(monotonicMs),
        isQuiet: () => this.manager.lifecycle.isQuiet(),
      },
    };
    this.#dashboard = new ControllerDashboard(options);
    const counted = { ...options, meter: this.#dashboard.requests };
    this.#apis = makeReadingApis(counted, replica);
    this.#writing = config.shadow ? undefined : makeWritingApis(counted, replica);
    this.manager = new Manager({
      ...options,
      config: { current: () => this.#config },
      apis: { ...this.#apis, writing: this.#writing },
      lanes: new PQueueLanes({ concurrencyMax: config.concurrentWrites }),
      host: hostname(),
      place: options.place,
      dialer: tcpDialer,
      policyAdoption:
        config.policySource === 'file'
          ? undefined
          : {
              read: (object) => readPolicyUnder(this.#config, object),
              adopt: (policies) => this.#adoptPolicies(policies),
            },
    });
    this.snapshot = this.manager.snapshot(() => this.#reloader?.status());
    this.#dashboard.attach(this.manager);
  }

  /** Source of the dashboard; undefined with `--dashboard=false`. */
  get dashboard(): DashboardSource | undefined {
    return this.#dashboard.source;
  }

  /** Runs until the signal aborts (`stopped`) or leadership is lost (`lost`). Nothing keeps running afterwards. */
  async run(signal: AbortSignal): Promise<'stopped' | 'lost'> {
    const pages = await this.#startPages();
    const background = new AbortController();
    // Standbys reload too, so that a new leader starts with the current settings.
    const reloader = this.#reloader?.run(background.signal) ?? Promise.resolve();
    const running = [reloader, this.#dashboard.run(background.signal)];
    try {
      return await this.manager.run(signal);
    } finally {
      background.abort();
      await Promise.all(running);
      await Promise.all(Object.values({ ...this.#apis, ...this.#writing }).map((api) => api.close()));
      await pages.close();
      this.#options.logger.info({}, 'stopped');
    }
  }

  #makeReloader(): ConfigReloader | undefined {
    const { configFile, clock, logger, meter } = this.#options;
    if (configFile === undefined) return undefined;
    const file: ConfigFileSource = {
      ...configFile,
      parse: (readFile) => validateWithPolicies(configFile.parse(readFile), this.#config),
    };
    const adopt = (config: ControllerConfig, applied: readonly SettingChange[]): void => {
      this.#adopt(withPoliciesInForce(config, this.#config), applied);
      this.manager.recheckPolicyObjects();
    };
    return new ConfigReloader({ file, adopt, clock, logger, meter });
  }

  #adopt(config: ControllerConfig, applied: readonly SettingChange[]): void {
    this.#config = config;
    this.#options.onConfig?.(config);
    this.manager.optionsChanged(applied);
  }

  /** Adopts policies as a reload of the config file does: what they move or end is moved or ended at once. */
  #adoptPolicies(policies: readonly NodePolicy[]): void {
    const changes = diffPolicies(this.#config.policies, policies, policyObjectName);
    this.#adopt(Object.freeze({ ...this.#config, policies }), changes);
    this.#reloader?.recheck();
  }

  #startPages(): Promise<RunningObservability> {
    return startControllerPages({
      ...this.#options,
      reviewApi: this.#apis.reviews,
      metricsRoutes: [
        metricsRoute(this.#options.meter),
        configzRoute('node-lifecycle-controller', () => this.#config),
        ...explainRoutes(this.snapshot),
        ...listRoutes(this.snapshot),
        shadowRoute(() => this.manager.shadowReport()),
        ...this.#dashboard.routes(),
      ],
      healthRoutes: healthRoutes(this.#healthChecks()),
    });
  }

  /** A standby whose caches are in sync is ready, because it can take over. A process that stops is not ready. */
  #healthChecks(): HealthChecks {
    const { manager } = this;
    const inSync = Object.values(manager.requiredInformers).map((informer) => ({
      name: `informer-sync-${informer.name}`,
      problem: () => (informer.hasSynced() ? undefined : (informer.status().lastError ?? 'cache is not in sync')),
    }));
    const shutdown = { name: 'shutdown', problem: () => (manager.isStopping ? 'process is shutting down' : undefined) };
    const writeCheck = manager.writeCheck();
    return {
      live: [{ name: 'leaderElection', problem: () => manager.problem() }],
      ready: [...inSync, shutdown, ...(writeCheck === undefined ? [] : [writeCheck])],
    };
  }
}
