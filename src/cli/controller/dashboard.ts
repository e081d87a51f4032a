// The dashboard of a controller process: its state, its routes, and the requests that it counts.
import type { DashboardSource } from '../../dashboard/server/dashboard-source.ts';
import type { DashboardKeeper } from '../../dashboard/server/dashboard-keeper.ts';
import { samplesEverySeconds } from '../../dashboard/server/dashboard-samples.ts';
import type { ServerInfo } from '../../dashboard/protocol.ts';
import { restClientRequests } from '../../machinery/kube-client/metrics.ts';
import type { Route } from '../../machinery/page-server/observability-server.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { Labels, Meter, MetricDefinition } from '../../machinery/ports/meter.ts';
import type { Manager } from '../../manager/manager.ts';
import { dashboardRoutes } from '../dashboard/dashboard-routes.ts';
import { ownVersion } from '../io/version.ts';

/** The file below `/dashboard/assets/`; the page for the empty path; undefined: there is none. */
export type DashboardAssets = Parameters<typeof dashboardRoutes>[0]['asset'];

interface ControllerDashboardOptions extends Ambient {
  readonly config: { readonly dashboard: boolean };
  readonly identity: string;
  readonly dashboardAssets?: DashboardAssets | undefined;
}

/** Decisions in the timeline. */
const timelineMax = 500;

const noAssets: DashboardAssets = () => Promise.resolve(undefined);

export class ControllerDashboard {
  /** The meter of the clients of the API server. */
  readonly requests: RequestCounter;
  readonly #options: ControllerDashboardOptions;
  #keeper: DashboardKeeper | undefined;

  constructor(options: ControllerDashboardOptions) {
    this.#options = options;
    this.requests = new RequestCounter(options.meter);
  }

  /** Reads the state of this replica from now on, unless the dashboard is off. To be called before the replica runs. */
  attach(manager: Pick<Manager, 'dashboard'>): void {
    const { config, identity } = this.#options;
    if (!config.dashboard) return;
    const server: ServerInfo = {
      version: ownVersion(),
      kind: 'controller',
      identity,
      actionKinds: [],
      samplesEverySeconds,
      timelineMax,
    };
    this.#keeper = manager.dashboard({ server, requestsTotal: () => this.requests.total });
  }

  get source(): DashboardSource | undefined {
    return this.#keeper?.board;
  }

  routes(): readonly Route[] {
    const { source } = this;
    if (source === undefined) return [];
    return dashboardRoutes({ ...this.#options, source, asset: this.#options.dashboardAssets ?? noAssets });
  }

  /** Until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#keeper?.run(signal);
  }
}

/** Records in another meter, and counts the requests to the API server. */
export class RequestCounter implements Meter {
  readonly #meter: Meter;
  #total = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Number of requests since the start. */
  get total(): number {
    return this.#total;
  }

  add(metric: MetricDefinition, amount: number, labels?: Labels): void {
    if (metric === restClientRequests) this.#total += amount;
    this.#meter.add(metric, amount, labels);
  }

  set(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#meter.set(metric, value, labels);
  }

  observe(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#meter.observe(metric, value, labels);
  }

  forget(metric: MetricDefinition, labels: Labels): void {
    this.#meter.forget(metric, labels);
  }

  onRead(show: () => void): void {
    this.#meter.onRead(show);
  }
}
