// A write that waited for its rate limit or credentials checks the leadership once more before it is sent: the transport
// calls the check if the process has set one. Here every path of the process to the API server is blocked at its
// credentials, and the leadership ends or does not end in the meantime.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../../../src/machinery/kube-client/connection.ts';
import { plainConnection } from '../../support/plain-connection.ts';
import type { HttpKubeApi } from '../../../src/machinery/kube-client/kube-api.ts';
import { PromMeter } from '../../../src/machinery/adapters/prom-meter.ts';
import { SystemClock } from '../../../src/machinery/adapters/system-clock.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import { canaryLeaseName } from '../../../src/machinery/api/resources.ts';
import { type RunningApiServer, startApiServer } from '../../../src/hollow-cluster/apiserver/http/api-server.ts';
import { type ControllerConfig, parseControllerConfig } from '../../../src/cli/controller/config.ts';
import { ControllerProcess } from '../../../src/cli/controller/process.ts';
import type { Labels, MetricDefinition } from '../../../src/machinery/ports/meter.ts';
import { makeKubeApi } from '../../support/make-kube-api.ts';
import { RecordingLogger, SeededRandom } from '../../support/fakes.ts';
import { RecordingProxy } from '../../support/recording-proxy.ts';
import { until } from '../../support/until.ts';

const canaryPeriodMs = 5_000;
const renewDeadlineMs = 30_000;
const signal = AbortSignal.timeout(60_000);

function aConfig(): ControllerConfig {
  const parsed = parseControllerConfig(
    [
      '--watch-canary',
      '--metrics-bind-address=0',
      '--health-probe-bind-address=0',
      '--leader-elect-lease-duration=40s',
      `--leader-elect-renew-deadline=${renewDeadlineMs}ms`,
      '--leader-elect-retry-period=500ms',
    ],
    () => assert.fail('no file'),
  );
  assert.ok('config' in parsed, JSON.stringify(parsed));
  return parsed.config;
}

/** The machine's clock, which can be set forward as for a process that was suspended. */
class SkippingClock extends SystemClock {
  #skippedMs = 0;

  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  override monotonicMs(): number {
    return super.monotonicMs() + this.#skippedMs;
  }
}

/** Provides credentials, or blocks their readers. */
class Gate {
  readonly connection: Connection;
  #open = Promise.resolve();

  constructor(url: string, token: string) {
    const plain = plainConnection(url, { token });
    this.connection = { ...plain, authorization: () => this.#open.then(() => plain.authorization()) };
  }

  /** Returns the function that unblocks it. */
  close(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#open = promise;
    return resolve;
  }
}

/** Counts the requests of each verb that passed the rate limit and are about to read credentials. */
class CountingMeter extends PromMeter {
  begun: Record<string, number> = {};

  override observe(metric: MetricDefinition, value: number, labels: Labels = {}): void {
    super.observe(metric, value, labels);
    if (metric.name !== 'rest_client_rate_limiter_duration_seconds') return;
    const { verb = '' } = labels;
    this.begun[verb] = (this.begun[verb] ?? 0) + 1;
  }
}

/** One leading process, and all its requests to the server. */
class GatedController {
  readonly clock = new SkippingClock();
  readonly meter = new CountingMeter();
  readonly gate: Gate;
  readonly #server: RunningApiServer;
  readonly #proxy: RecordingProxy;
  readonly #api: HttpKubeApi;
  readonly #stop = new AbortController();
  readonly #running: Promise<'stopped' | 'lost'>;

  private constructor(server: RunningApiServer, proxy: RecordingProxy) {
    const dependencies = { clock: this.clock, random: new SeededRandom(7), logger: new RecordingLogger() };
    this.#server = server;
    this.#proxy = proxy;
    this.#api = makeKubeApi(plainConnection(server.url, { token: server.adminToken }));
    this.gate = new Gate(proxy.url, server.adminToken);
    const own = { connection: this.gate.connection, meter: this.meter, identity: 'us', place: '' };
    this.#running = new ControllerProcess({ ...dependencies, ...own, config: aConfig() }).run(this.#stop.signal);
  }

  static async start(): Promise<GatedController> {
    const server = await startApiServer({
      tls: false,
      clock: new SystemClock(),
      random: new SeededRandom(7),
      logger: new RecordingLogger(),
    });
    return new GatedController(server, await RecordingProxy.start({ url: server.url }));
  }

  /** Requests received from it, except those of the election. */
  written(): readonly string[] {
    const others = this.#proxy.writes.filter(({ path }) => !path.includes('/kube-system/leases'));
    return others.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
  }

  /** All responses have arrived. */
  get isIdle(): boolean {
    return this.#proxy.writes.every(({ endedAtMs }) => endedAtMs !== undefined);
  }

  /** A new node, which lacks the beta labels. */
  async addNode(name: string): Promise<void> {
    const status = { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] };
    const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
    await this.#api.create('nodes', { metadata: { name, labels }, status } as KubeObject, { signal });
  }

  end(): Promise<'stopped' | 'lost'> {
    this.#stop.abort();
    return this.#running;
  }

  async stop(): Promise<void> {
    await this.end();
    await this.#api.close();
    await this.#proxy.stop();
    await this.#server.close();
  }
}

/** One write of each path waits for credentials; `meanwhile` runs; the credentials arrive. Returns the writes sent then. */
async function writesThatWaited(meanwhile: (clock: SkippingClock) => void): Promise<readonly string[]> {
  const controller = await GatedController.start();
  const { gate, clock, meter } = controller;
  try {
    await until(() => settledWrites.every((write) => controller.written().includes(write)) && controller.isIdle);
    const before = controller.written().length;
    meter.begun = {};
    const open = gate.close();
    clock.skip(canaryPeriodMs);
    await controller.addNode('n1');
    await until(() => meter.begun['PATCH'] === 2 && meter.begun['POST'] === 1, 4_000);
    meanwhile(clock);
    open();
    await until(() => controller.written().length === before + 3, 500).catch(() => undefined);
    await controller.end();
    return controller.written().slice(before).toSorted();
  } finally {
    await controller.stop();
  }
}

/** Writes of the startup. */
const settledWrites = [
  'POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  'POST /api/v1/namespaces/kube-system/events',
];
const waiting = [
  'PATCH /api/v1/nodes/n1',
  `PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${canaryLeaseName}`,
  'POST /api/v1/namespaces/default/events',
];

test('writes that waited for credentials are sent if the process still leads', { timeout: 30_000 }, async () => {
  const written = await writesThatWaited(() => undefined);
  const left = waiting.filter((write) => !written.includes(write));
  assert.deepEqual(left, []);
});

test('writes that waited for credentials are not sent after the leadership was lost: nodes, events, the canary', {
  timeout: 30_000,
}, async () => {
  assert.deepEqual(await writesThatWaited((clock) => clock.skip(renewDeadlineMs)), []);
});
