// The process of `nlc hollow-nodes`: the fleet, its API clients, fault injection and the control pages.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Connection } from '../../../machinery/kube-client/connection.ts';
import { LeaseRenewalClient } from '../../../machinery/kube-client/lease-renewal-client.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../../machinery/kube-client/kube-api.ts';
import * as http from '../../../machinery/kube-client/metrics.ts';
import { type RunningHttp, type Route, startHttp } from '../../../machinery/page-server/observability-server.ts';
import { PromMeter } from '../../../machinery/adapters/prom-meter.ts';
import { SystemClock } from '../../../machinery/adapters/system-clock.ts';
import { SystemRandom } from '../../../machinery/adapters/system-random.ts';
import { FleetBroadcaster } from '../../../machinery/events/fleet-broadcaster.ts';
import * as events from '../../../machinery/events/metrics.ts';
import * as informer from '../../../machinery/informer/metrics.ts';
import { runScript, type ScriptStep } from '../../../hollow-cluster/kubelet/faults/fault-script.ts';
import { SeededRandom } from '../../../hollow-cluster/kubelet/faults/seeded-random.ts';
import type { FleetNode } from '../../../hollow-cluster/kubelet/faults/select-nodes.ts';
import { HollowFleet } from '../../../hollow-cluster/kubelet/fleet/fleet.ts';
import * as fleetMetrics from '../../../hollow-cluster/kubelet/fleet/metrics.ts';
import { heartbeatTimeoutMs, type KubeletProfile, profileV137 } from '../../../hollow-cluster/kubelet/profile.ts';
import { WheelClock } from '../../../hollow-cluster/kubelet/loops/wheel-clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { metricsOf } from '../../../machinery/ports/meter.ts';
import type { Random } from '../../../machinery/ports/random.ts';
import { formatBindAddress, type ListenAddress } from '../../flags/bind-address.ts';
import type { CommandIo } from '../../io/command-io.ts';
import type { FlagValues } from '../../flags/flag-definition.ts';
import { healthRoutes } from '../../pages/health-pages.ts';
import { type hollowNodesFlags, parseImagePatterns, parseTaints } from './flags.ts';
import { metricsRoute } from '../../pages/metrics-pages.ts';
import { StaticPodSources } from './static-pod-sources.ts';
import { ownVersion, userAgent } from '../../io/version.ts';
import { actionRoute } from '../actions/actions.ts';
import { allOf, rejectCrossSite } from '../actions/cross-site.ts';
import { dashboardAsset } from '../../dashboard/assets.ts';
import { dashboardRoutes } from '../../dashboard/dashboard-routes.ts';
import * as dashboardMetrics from '../../dashboard/metrics.ts';
import { controlRoutes, requireToken } from './control-pages.ts';
import { FleetActions, FleetDashboard } from './fleet-dashboard.ts';
import { describeReport, type FleetReport, GroundTruthLog, reportFleet, showProgress } from './fleet-report.ts';

type HollowNodesValues = FlagValues<typeof hollowNodesFlags>;

interface FleetProcessOptions {
  readonly values: HollowNodesValues;
  readonly connection: Connection;
  readonly nodes: readonly FleetNode[];
  /** Runs once all nodes are registered. */
  readonly script: readonly ScriptStep[];
  readonly logger: Logger;
  readonly io: CommandIo;
}

const seedsEnd = 2 ** 31;

/** All metrics of the process. */
export const fleetProcessMetrics = metricsOf(fleetMetrics, informer, http, events, dashboardMetrics);

/** Runs until the signal of `io` aborts. */
export class FleetProcess {
  readonly #options: FleetProcessOptions;
  readonly #meter = new PromMeter({ processMetrics: true });
  readonly #clock: WheelClock;
  readonly #random: Random;
  readonly #seed: number;
  readonly #startedAtMs: number;
  readonly #faultKinds = new Set<string>();

  constructor(options: FleetProcessOptions) {
    this.#options = options;
    const { seed = Math.floor(new SystemRandom().next() * seedsEnd) } = options.values;
    this.#seed = seed;
    this.#random = new SeededRandom(seed);
    this.#clock = new WheelClock({
      clock: new SystemClock(),
      logger: options.logger,
      onLate: (ms) => this.#meter.observe(fleetMetrics.wakeLatenessSeconds, ms / 1_000),
    });
    this.#startedAtMs = this.#clock.monotonicMs();
    this.#meter.declare(fleetProcessMetrics);
  }

  /** Rejects with the system error if it cannot listen on the address or open the log file. */
  async run(): Promise<void> {
    const { groundTruthLog } = this.#options.values;
    const truth = groundTruthLog === undefined ? undefined : new GroundTruthLog(groundTruthLog);
    try {
      await this.#runOnApi(truth);
    } finally {
      truth?.close();
    }
  }

  async #runOnApi(truth: GroundTruthLog | undefined): Promise<void> {
    const { values } = this.#options;
    const requestTimeoutMs = heartbeatTimeoutMs({ ...profileV137, ...this.#profile() });
    const api = this.#api({ qps: values.kubeApiQps, burst: values.kubeApiBurst });
    // The kubelet has its own retries of heartbeats, so the client does not retry.
    const heartbeatApi = new LeaseRenewalClient({ ...this.#apiDependencies(), requestTimeoutMs });
    const eventApi = this.#api({ qps: values.eventQps, burst: values.eventBurst });
    const sources = new StaticPodSources(values, { clock: this.#clock, logger: this.#options.logger });
    try {
      await this.#runFleet({ api, heartbeatApi, eventApi }, sources, truth);
    } finally {
      await Promise.all([api.close(), heartbeatApi.close(), eventApi.close(), sources.close()]);
    }
  }

  async #runFleet(apis: Apis, sources: StaticPodSources, truth: GroundTruthLog | undefined): Promise<void> {
    const { io, nodes, logger, values } = this.#options;
    const dependencies = { clock: this.#clock, random: this.#random, logger, meter: this.#meter };
    const events = new FleetBroadcaster({ ...dependencies, api: apis.eventApi });
    const fleet = new HollowFleet({
      ...dependencies,
      ...apis,
      nodes,
      seed: this.#seed,
      onGroundTruth: (what) => {
        truth?.write(what);
        dashboard?.onGroundTruth(what);
      },
      sources: (nodeName) => sources.of(nodeName),
      ...(values.events ? { recorder: (nodeName: string) => events.recorder('kubelet', nodeName) } : {}),
      ...(values.startRampMs === undefined ? {} : { startRampMs: values.startRampMs }),
      machine: { cpuCores: values.nodeCpu, memoryMiB: values.nodeMemoryMib, podsMax: values.maxPods },
      profile: this.#profile(),
    });
    const actions = new FleetActions(fleet.faults, nodes);
    const dashboard = values.controlAddress === 'off' ? undefined : this.#makeDashboard(fleet, actions);
    const control = dashboard && (await this.#serve(fleet, dashboard, actions));
    try {
      await Promise.all([fleet.run(io.signal), events.run(io.signal), this.#lead(fleet), dashboard?.run(io.signal)]);
      io.stdout(describeReport(this.#report(fleet)));
    } finally {
      await control?.close();
    }
  }

  /** Shows the progress of the registration, then runs the script. */
  async #lead(fleet: HollowFleet): Promise<void> {
    const { io, script, values, logger } = this.#options;
    if (values.script !== undefined) io.stdout(`seed: ${this.#seed}\n`);
    await showProgress(fleet, this.#clock, io);
    if (io.signal.aborted) return;
    io.stdout(`${fleet.status().registered} nodes are registered; press Ctrl-C to stop\n`);
    const onStep = ({ act, atMs }: ScriptStep, problem: string | undefined): void => {
      if (problem === undefined) logger.info({ atMs, act }, 'script step applied');
      else logger.error({ atMs, act, problem }, 'script step failed');
    };
    await runScript(script, { injector: fleet.faults, clock: this.#clock, onStep }, io.signal);
  }

  #profile(): Partial<KubeletProfile> {
    const { values } = this.#options;
    const { leasePhase, nodeStatusUpdateFrequencyMs, nodeStatusReportFrequencyMs, jobPodDurationMs } = values;
    const { podStartDelayMs, podStopDelayMs, shutdownGracePeriodMs, shutdownGracePeriodCriticalPodsMs } = values;
    return {
      kind: values.profile,
      leasePhase,
      leaseDurationSeconds: values.leaseDurationMs / 1_000,
      nodeStatusUpdateFrequencyMs,
      nodeStatusReportFrequencyMs,
      podStartDelayMs,
      podStopDelayMs,
      jobPodDurationMs,
      unpullableImages: parseImagePatterns(values.unpullableImages),
      registerWithTaints: parseTaints(values.registerWithTaints),
      shutdownGracePeriodMs,
      shutdownGracePeriodCriticalPodsMs,
    };
  }

  #api(lane: Pick<HttpKubeApiOptions, 'qps' | 'burst'>): HttpKubeApi {
    return new HttpKubeApi({ ...lane, ...this.#apiDependencies() });
  }

  #apiDependencies(): Omit<HttpKubeApiOptions, 'qps' | 'burst'> {
    const { connection, logger } = this.#options;
    return {
      connection,
      logger,
      clock: new SystemClock(),
      meter: this.#meter,
      userAgent: userAgent('hollow-nodes'),
      fieldManager: 'kubelet',
    };
  }

  #makeDashboard(fleet: HollowFleet, { kinds }: FleetActions): FleetDashboard {
    return new FleetDashboard({
      fleet,
      clock: this.#clock,
      version: ownVersion(),
      identity: hostname(),
      actionKinds: kinds,
    });
  }

  async #serve(
    fleet: HollowFleet,
    { source }: FleetDashboard,
    actions: FleetActions,
  ): Promise<RunningHttp | undefined> {
    const { values, io, logger } = this.#options;
    const { controlAddress: address, controlTokenFile } = values;
    if (address === 'off') return undefined;
    const token = controlTokenFile === undefined ? undefined : readFileSync(controlTokenFile, 'utf8').trim();
    const pages = dashboardRoutes({ source, asset: dashboardAsset, clock: this.#clock, logger, meter: this.#meter });
    const routes = [...this.#routes(fleet), ...pages, actionRoute(actions)];
    const refuse = token === undefined ? rejectCrossSite : allOf(requireToken(token), rejectCrossSite);
    const running = await startHttp({ address, routes, logger, refuse });
    io.stdout(`${controlText(running.address)}\n`);
    return running;
  }

  #routes(fleet: HollowFleet): readonly Route[] {
    const metrics = {
      contentType: this.#meter.contentType,
      text: () => {
        this.#count(fleet);
        return this.#meter.text();
      },
    };
    const registered = {
      name: 'registered',
      problem: (): string | undefined => {
        const { nodes, registered: count } = fleet.status();
        return count === nodes ? undefined : `${count} of ${nodes} nodes are registered`;
      },
    };
    return [
      ...controlRoutes({ fleet, report: () => this.#report(fleet) }),
      ...healthRoutes({ live: [], ready: [registered] }),
      metricsRoute(metrics),
    ];
  }

  /** Gauges are computed at each scrape. */
  #count(fleet: HollowFleet): void {
    const { nodes, registered, ready, cutOff, unhealthy } = fleet.status();
    const states = { all: nodes, registered, ready, cut_off: cutOff, unhealthy };
    for (const [state, count] of Object.entries(states)) this.#meter.set(fleetMetrics.nodesInState, count, { state });
    // A kind that was exposed once stays exposed, with 0.
    const byKind = new Map([...this.#faultKinds].map((kind) => [kind, 0]));
    for (const { order, active } of fleet.faults.list()) {
      byKind.set(order.fault.kind, (byKind.get(order.fault.kind) ?? 0) + active);
    }
    for (const [kind, active] of byKind) {
      this.#faultKinds.add(kind);
      this.#meter.set(fleetMetrics.activeFaults, active, { kind });
    }
  }

  #report(fleet: HollowFleet): FleetReport {
    const { lateness } = this.#clock;
    return reportFleet({ fleet, lateness, startedAtMs: this.#startedAtMs, nowMs: this.#clock.monotonicMs() });
  }
}

interface Apis {
  readonly api: HttpKubeApi;
  readonly heartbeatApi: LeaseRenewalClient;
  readonly eventApi: HttpKubeApi;
}

function controlText(address: ListenAddress): string {
  return `control address http://${formatBindAddress(address)}: /dashboard /status /nodes /faults /metrics /livez /readyz`;
}
