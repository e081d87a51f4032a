// The routes of the dashboard on a synthetic cluster: in this process, or as a program with its own core, which advances the
// cluster by a step a second and cuts a zone when its parent sends the name.
import process from 'node:process';
import { PromMeter } from '../../src/machinery/adapters/prom-meter.ts';
import { type RunningHttp, type Route, startHttp } from '../../src/machinery/page-server/observability-server.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { dashboardAsset } from '../../src/cli/dashboard/assets.ts';
import { dashboardRoutes } from '../../src/cli/dashboard/dashboard-routes.ts';
import { DashboardBoard } from '../../src/dashboard/server/dashboard-board.ts';
import type { ServerInfo } from '../../src/dashboard/protocol.ts';
import { describeNodeOutlook } from '../../src/controller/report/text/describe-outlooks.ts';
import { pageAnswer, problem } from '../../src/cli/pages/explain-pages.ts';
import { silentLogger } from '../support/fakes.ts';
import { buildSyntheticOutlook } from './synthetic-outlook.ts';
import { secondsPerSample, SyntheticCluster, type SyntheticOptions } from './synthetic-cluster.ts';

const server: ServerInfo = {
  version: '0.0.0',
  kind: 'controller',
  identity: 'replica-1',
  actionKinds: [],
  samplesEverySeconds: secondsPerSample,
  timelineMax: 1_000,
};

const stepMs = 1_000;

/** A dashboard whose cluster the test advances. */
export class SyntheticServer implements AsyncDisposable {
  readonly cluster: SyntheticCluster;
  readonly #board = new DashboardBoard({ server });
  #http: RunningHttp | undefined;
  #port = 0;
  #ticks: NodeJS.Timeout | undefined;

  constructor(options: SyntheticOptions) {
    this.cluster = new SyntheticCluster(this.#board, options);
  }

  static async start(options: SyntheticOptions): Promise<SyntheticServer> {
    const started = new SyntheticServer(options);
    await started.listen();
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/dashboard`;
  }

  /** Listens again on the same port after a stop. */
  async listen(): Promise<void> {
    const clock = new SystemClock();
    const logger = silentLogger;
    const routes = dashboardRoutes({
      source: this.#board,
      asset: dashboardAsset,
      clock,
      logger,
      meter: new PromMeter(),
    });
    this.#http = await startHttp({
      address: { host: '127.0.0.1', port: this.#port },
      routes: [...routes, this.#explainRoute()],
      logger,
    });
    this.#port = this.#http.address.port;
    // As a source does: also if nothing changed, so that clients get the comments.
    this.#ticks = setInterval(() => this.#board.publish(), stepMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks);
    await this.#http?.close();
    this.#http = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #explainRoute(): Route {
    return {
      path: '/explain/nodes/',
      answer: (url) => {
        const name = decodeURIComponent(url.pathname.split('/')[3] ?? '');
        const cell = this.#board.node(name);
        if (cell === undefined) return problem(404, 'NotFound', `node ${JSON.stringify(name)} is not known`);
        const json = buildSyntheticOutlook(cell);
        return pageAnswer(url, { json, text: () => describeNodeOutlook(json) });
      },
    };
  }
}

/** As a program: `node synthetic-server.ts ZONES NODES_PER_ZONE`, started with an IPC channel, which also ends it. */
async function main([zones, nodesPerZone]: readonly string[]): Promise<void> {
  const server = await SyntheticServer.start({ zones: Number(zones), nodesPerZone: Number(nodesPerZone) });
  setInterval(() => server.cluster.step(), stepMs);
  process.on('message', (zone: unknown) => server.cluster.cut(String(zone)));
  process.once('disconnect', () => process.exit(0));
  process.send?.(server.url);
}

if (import.meta.main) await main(process.argv.slice(2));
