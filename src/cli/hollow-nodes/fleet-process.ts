// `nlc hollow-nodes` put together: the fleet, its ways to the API server, what is done to it, and who may look.
import { readFileSync } from 'node:fs';
import type { Connection } from '../../adapters/http-connection.ts';
import { HttpHeartbeatLane } from '../../adapters/http-heartbeat-lane.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../adapters/http-kube-api.ts';
import { httpMetrics } from '../../adapters/http-metrics.ts';
import { type RunningHttp, type Route, startHttp } from '../../adapters/observability-server.ts';
import { PromMeter } from '../../adapters/prom-meter.ts';
import { SystemClock } from '../../adapters/system-clock.ts';
import { SystemRandom } from '../../adapters/system-random.ts';
import { FleetBroadcaster } from '../../events/fleet-broadcaster.ts';
import { eventsDroppedTotal } from '../../events/metrics.ts';
import { informerMetrics } from '../../informer/metrics.ts';
import { playScript, type ScriptStep } from '../../kubelet/faults/fault-script.ts';
import { SeededRandom } from '../../kubelet/faults/seeded-random.ts';
import { type FleetNode, HollowFleet } from '../../kubelet/fleet.ts';
import { activeFaults, fleetMetrics, nodesInState, wakeLatenessSeconds } from '../../kubelet/metrics.ts';
import { heartbeatTimeoutMs, type KubeletProfile, modernProfile } from '../../kubelet/profile.ts';
import { WheelClock } from '../../kubelet/wheel-clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { MetricDefinition } from '../../ports/meter.ts';
import type { Random } from '../../ports/random.ts';
import { formatBindAddress, type ListenAddress } from '../bind-address.ts';
import type { CommandIo } from '../command-io.ts';
import type { FlagValues } from '../flag-definition.ts';
import { healthRoutes } from '../health-pages.ts';
import type { hollowNodesFlags } from '../hollow-nodes-flags.ts';
import { metricsRoute } from '../metrics-pages.ts';
import { StaticPodSources } from '../static-pod-sources.ts';
import { userAgent } from '../version.ts';
import { guardControl } from './control-access.ts';
import { controlRoutes } from './control-pages.ts';
import { describeReport, type FleetReport, reportFleet } from './fleet-report.ts';
import { GroundTruthLog } from './ground-truth-log.ts';
import { showProgress } from './progress.ts';
import { parseTaints } from './taint-texts.ts';

export type HollowNodesValues = FlagValues<typeof hollowNodesFlags>;

export interface FleetProcessOptions {
  readonly values: HollowNodesValues;
  readonly connection: Connection;
  readonly nodes: readonly FleetNode[];
  /** Played once all nodes are registered. */
  readonly script: readonly ScriptStep[];
  readonly logger: Logger;
  readonly io: CommandIo;
}

const seedsEnd = 2 ** 31;

/** Every metric that the process of a fleet exposes. */
export const fleetProcessMetrics: readonly MetricDefinition[] = [
  ...fleetMetrics,
  ...informerMetrics,
  ...httpMetrics,
  eventsDroppedTotal,
];

/** Runs from its construction's flags until the signal of `io` aborts. */
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
      onLate: (ms) => this.#meter.observe(wakeLatenessSeconds, ms / 1_000),
    });
    this.#startedAtMs = this.#clock.monotonicMs();
    this.#meter.declare(fleetProcessMetrics);
  }

  /** Rejects with what the system said when the address or the log file cannot be had. */
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
    const requestTimeoutMs = heartbeatTimeoutMs({ ...modernProfile, ...this.#profile() });
    const api = this.#api({ qps: values.kubeApiQps, burst: values.kubeApiBurst });
    // Whoever sends a heartbeat repeats it by its own rules.
    const statusApi = this.#api({ qps: 0, burst: 0, retriesMax: 0, requestTimeoutMs });
    const heartbeatApi = this.#heartbeatLane(statusApi, requestTimeoutMs);
    const eventApi = this.#api({ qps: values.eventQps, burst: values.eventBurst });
    const sources = new StaticPodSources(values, { clock: this.#clock, logger: this.#options.logger });
    try {
      await this.#runFleet({ api, heartbeatApi, eventApi }, sources, truth);
    } finally {
      await heartbeatApi.close();
      await Promise.all([api.close(), statusApi.close(), eventApi.close(), sources.close()]);
    }
  }

  async #runFleet(apis: Apis, sources: StaticPodSources, truth: GroundTruthLog | undefined): Promise<void> {
    const { io, nodes, logger, values } = this.#options;
    const means = { clock: this.#clock, random: this.#random, logger, meter: this.#meter };
    const events = new FleetBroadcaster({ ...means, api: apis.eventApi });
    const fleet = new HollowFleet({
      ...means,
      ...apis,
      nodes,
      seed: this.#seed,
      ...(truth === undefined ? {} : { tell: (what) => truth.write(what) }),
      sources: (nodeName) => sources.of(nodeName),
      ...(values.events ? { recorder: (nodeName: string) => events.recorder('kubelet', nodeName) } : {}),
      ...(values.startRamp === undefined ? {} : { rampMs: values.startRamp }),
      machine: { cpuCores: values.nodeCpu, memoryMiB: values.nodeMemoryMib, podsMax: values.maxPods },
      profile: this.#profile(),
    });
    const control = await this.#serve(fleet);
    try {
      await Promise.all([fleet.run(io.signal), events.run(io.signal), this.#lead(fleet)]);
      io.stdout(describeReport(this.#report(fleet)));
    } finally {
      await control?.close();
    }
  }

  /** From the first node to the last step of the script. */
  async #lead(fleet: HollowFleet): Promise<void> {
    const { io, script, values, logger } = this.#options;
    if (values.script !== undefined) io.stdout(`the seed is ${this.#seed}\n`);
    await showProgress(fleet, this.#clock, io);
    if (io.signal.aborted) return;
    io.stdout(`${fleet.status().registered} nodes are registered; end with Ctrl-C\n`);
    const onStep = ({ act, atMs }: ScriptStep, problem: string | undefined): void => {
      if (problem === undefined) logger.info({ atMs, act }, 'a step of the script was done');
      else logger.error({ atMs, act, problem }, 'a step of the script could not be done');
    };
    await playScript(script, { board: fleet.faults, clock: this.#clock, onStep }, io.signal);
  }

  #profile(): Partial<KubeletProfile> {
    const { values } = this.#options;
    return {
      kind: values.profile === 'classic' ? 'classic' : 'modern',
      leasePhase: leasePhase(values.leasePhase),
      leaseDurationSeconds: values.leaseDuration / 1_000,
      nodeStatusUpdateFrequencyMs: values.nodeStatusUpdateFrequency,
      nodeStatusReportFrequencyMs: values.nodeStatusReportFrequency,
      podStartDelayMs: values.podStartDelay,
      podStopDelayMs: values.podStopDelay,
      registerWithTaints: parseTaints(values.registerWithTaints),
      shutdownGracePeriodMs: values.shutdownGracePeriod,
      shutdownGracePeriodCriticalPodsMs: values.shutdownGracePeriodCriticalPods,
    };
  }

  #heartbeatLane(api: HttpKubeApi, requestTimeoutMs: number): HttpHeartbeatLane {
    return new HttpHeartbeatLane({ ...this.#apiMeans(), api, requestTimeoutMs });
  }

  #api(lane: Pick<HttpKubeApiOptions, 'qps' | 'burst' | 'retriesMax' | 'requestTimeoutMs'>): HttpKubeApi {
    return new HttpKubeApi({ ...lane, ...this.#apiMeans() });
  }

  #apiMeans(): Omit<HttpKubeApiOptions, 'qps' | 'burst'> {
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

  async #serve(fleet: HollowFleet): Promise<RunningHttp | undefined> {
    const { values, io, logger } = this.#options;
    const { controlAddress: address, controlTokenFile } = values;
    if (address === 'off') return undefined;
    const token = controlTokenFile === undefined ? undefined : readFileSync(controlTokenFile, 'utf8').trim();
    const running = await startHttp({ address, routes: this.#routes(fleet), logger, refuse: guardControl(token) });
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

  /** What is a state and not a count is looked at when somebody asks. */
  #count(fleet: HollowFleet): void {
    const { nodes, registered, ready, cutOff, unhealthy } = fleet.status();
    const states = { all: nodes, registered, ready, cut_off: cutOff, unhealthy };
    for (const [state, count] of Object.entries(states)) this.#meter.set(nodesInState, count, { state });
    // One that was told of once goes on being told of: with 0.
    const byKind = new Map([...this.#faultKinds].map((kind) => [kind, 0]));
    for (const { order, active } of fleet.faults.list()) {
      byKind.set(order.fault.kind, (byKind.get(order.fault.kind) ?? 0) + active);
    }
    for (const [kind, active] of byKind) {
      this.#faultKinds.add(kind);
      this.#meter.set(activeFaults, active, { kind });
    }
  }

  #report(fleet: HollowFleet): FleetReport {
    const { lateness } = this.#clock;
    return reportFleet({ fleet, lateness, startedAtMs: this.#startedAtMs, nowMs: this.#clock.monotonicMs() });
  }
}

interface Apis {
  readonly api: HttpKubeApi;
  readonly heartbeatApi: HttpHeartbeatLane;
  readonly eventApi: HttpKubeApi;
}

function leasePhase(text: string): KubeletProfile['leasePhase'] {
  return text === 'aligned' || text === 'random' ? text : 'hash';
}

function controlText(address: ListenAddress): string {
  return `control at http://${formatBindAddress(address)}: /status /nodes /faults /metrics /livez /readyz`;
}
