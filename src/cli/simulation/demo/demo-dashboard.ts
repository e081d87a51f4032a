// The dashboard of the demo: of the replica that leads, on one address for as long as the demo runs.
import { type Route, type RunningHttp, startHttp } from '../../../machinery/page-server/observability-server.ts';
import { PromMeter } from '../../../machinery/adapters/prom-meter.ts';
import type { DashboardSource } from '../../../dashboard/server/dashboard-source.ts';
import type { Snapshot } from '../../../controller/report/snapshot.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { Logger } from '../../../machinery/ports/logger.ts';
import { metricsOf } from '../../../machinery/ports/meter.ts';
import { actionRoute, type Actions } from '../actions/actions.ts';
import { rejectCrossSite } from '../actions/cross-site.ts';
import type { ControllerProcess } from '../../controller/process.ts';
import { dashboardAsset } from '../../dashboard/assets.ts';
import { dashboardRoutes } from '../../dashboard/dashboard-routes.ts';
import * as dashboardMetrics from '../../dashboard/metrics.ts';
import { explainRoutes } from '../../pages/explain-pages.ts';
import { listRoutes } from '../../pages/list-pages.ts';
import type { DemoEnvironment } from './environment.ts';
import { dashboardPort } from './flags.ts';
import { FollowingSource } from './following-source.ts';
import type { DemoReplica } from './replica.ts';

export interface DemoDashboard {
  readonly url: string;
  close(): Promise<void>;
}

interface DemoDashboardOptions {
  readonly environment: DemoEnvironment;
  readonly actions: Actions;
  /** Undefined: the default, or a free port if it is in use. */
  readonly port: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const host = '127.0.0.1';

/** Rejects with the system error if the port that was asked for is in use. */
export async function startDemoDashboard(options: DemoDashboardOptions): Promise<DemoDashboard> {
  const { environment, actions, clock, logger } = options;
  const shown = new ShownReplica(environment);
  const source = new FollowingSource({
    choose: () => shown.source,
    server: { kind: 'demo', actionKinds: actions.kinds },
    clock,
  });
  const meter = new PromMeter();
  meter.declare(metricsOf(dashboardMetrics));
  const pages = dashboardRoutes({ source, asset: dashboardAsset, clock, logger, meter });
  const routes = [...pages, ...explainRoutes(shown.snapshot), ...listRoutes(shown.snapshot), actionRoute(actions)];
  const running = await listen(routes, options);
  const life = new AbortController();
  const following = source.run(life.signal);
  return {
    url: `http://${host}:${running.address.port}/dashboard`,
    close: async () => {
      life.abort();
      await Promise.all([running.close(), following]);
    },
  };
}

async function listen(routes: readonly Route[], { port, logger }: DemoDashboardOptions): Promise<RunningHttp> {
  const refuse = rejectCrossSite;
  const start = (port: number): Promise<RunningHttp> => startHttp({ address: { host, port }, routes, refuse, logger });
  if (port !== undefined) return start(port);
  try {
    return await start(dashboardPort);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    return start(0);
  }
}

/** The process that leads; while none does, the one before, or that of another replica, whose caches are filled. */
class ShownReplica {
  readonly #replicas: readonly DemoReplica[];
  #replica: DemoReplica;
  #process: ControllerProcess;

  constructor({ replicas }: DemoEnvironment) {
    const [first] = replicas;
    if (first === undefined) throw new RangeError('the demo has no replica');
    this.#replicas = replicas;
    this.#replica = first;
    this.#process = first.process;
  }

  get process(): ControllerProcess {
    const running = this.#replicas.filter(({ isRunning }) => isRunning);
    const same = running.find(({ process }) => process === this.#process);
    const other = running.find((replica) => replica !== this.#replica);
    const shown = running.find(({ leads }) => leads) ?? same ?? other ?? running[0];
    if (shown === undefined) return this.#process;
    this.#replica = shown;
    this.#process = shown.process;
    return this.#process;
  }

  get source(): DashboardSource {
    const { dashboard } = this.process;
    if (dashboard === undefined) throw new Error('the replicas of the demo have a dashboard');
    return dashboard;
  }

  /** Asks the replica that is shown at each call. */
  get snapshot(): Snapshot {
    return {
      node: (name) => this.process.snapshot.node(name),
      pod: (namespace, name) => this.process.snapshot.pod(namespace, name),
      zones: () => this.process.snapshot.zones(),
      status: () => this.process.snapshot.status(),
      nodes: (query) => this.process.snapshot.nodes(query),
      evictions: (limit) => this.process.snapshot.evictions(limit),
    };
  }
}
