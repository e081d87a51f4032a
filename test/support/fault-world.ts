// Runs one schedule of faults: an embedded API server, a fault-injecting proxy, the real client and informers on one side,
// and a stream of changes on the other. As a worker thread it runs the given seeds.
import assert from 'node:assert/strict';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { plainConnection } from './plain-connection.ts';
import type { HttpKubeApi } from '../../src/machinery/kube-client/kube-api.ts';
import { SystemClock } from '../../src/machinery/adapters/system-clock.ts';
import { ApiError } from '../../src/machinery/api/api-error.ts';
import { type RunningApiServer, startApiServer } from '../../src/hollow-cluster/apiserver/http/api-server.ts';
import { Churn } from './churn.ts';
import { FaultProxy } from './fault-proxy.ts';
import { FaultSchedule, mix, pick, type Storm, whole } from './fault-schedule.ts';
import { HurriedClock, pause } from './hurried-clock.ts';
import { RecordingLogger, RecordingMeter, SeededRandom } from './fakes.ts';
import { makeKubeApi } from './make-kube-api.ts';
import { until } from './until.ts';
import { clusterState, WatchedCluster } from './watched-cluster.ts';

/** Time factor of the code under test: its shortest delay is 800 ms, its longest a minute. */
const haste = 25;
/** In that time. */
const quietMsMax = 12_000;
/** In wall time, as everything below. */
const bookmarkPeriodMs = 120;
const requestTimeoutMs = 500;
const directTimeoutMs = 10_000;
const steps = 45;
const pauseMsMax = 16;
const faultsLastMs = 600;
const getPauseMs = 80;
const settlingMsMax = 30_000;
const names = 6;
const forgettingShare = 0.06;

/** The result of a worker. */
export interface Lived {
  /** Empty if all invariants hold. */
  readonly failures: readonly string[];
  /** Sum over all meters, servers and resources. */
  readonly sums: ReadonlyMap<string, number>;
}

interface Parts {
  readonly seed: number;
  readonly meter: RecordingMeter;
  readonly schedule: FaultSchedule;
  readonly server: RunningApiServer;
  readonly proxy: FaultProxy;
}

/** One server, its proxy, and the clients on both sides. */
class World {
  readonly #seed: number;
  readonly #meter: RecordingMeter;
  readonly #clock = new HurriedClock(haste);
  readonly #schedule: FaultSchedule;
  readonly #stop = new AbortController();
  readonly #server: RunningApiServer;
  readonly #proxy: FaultProxy;
  /** Connects directly to the server. */
  readonly #direct: HttpKubeApi;
  /** The client under test. */
  readonly #api: HttpKubeApi;
  readonly #watched: WatchedCluster;
  readonly #churn: Churn;

  private constructor({ seed, meter, schedule, server, proxy }: Parts) {
    this.#seed = seed;
    this.#meter = meter;
    this.#schedule = schedule;
    this.#server = server;
    this.#proxy = proxy;
    this.#direct = this.#makeApi(server.url, directTimeoutMs);
    this.#api = this.#makeApi(proxy.url, requestTimeoutMs);
    this.#watched = new WatchedCluster({ ...this.#dependencies(), api: this.#api, quietMsMax });
    const random = new SeededRandom(mix(seed, 'churn'));
    this.#churn = new Churn({ api: this.#direct, random, names, signal: this.#stop.signal });
  }

  static async start(seed: number, meter: RecordingMeter): Promise<World> {
    const random = new SeededRandom(seed);
    const logger = new RecordingLogger();
    const server = await startApiServer({
      clock: new SystemClock(),
      random,
      logger,
      tls: false,
      bookmarkPeriodMs,
    });
    const schedule = new FaultSchedule(seed, faultsLastMs);
    const proxy = await FaultProxy.start(server.url, (request) => schedule.planFor(request));
    return new World({ seed, meter, schedule, server, proxy });
  }

  async liveThrough(): Promise<void> {
    await this.#churn.populate();
    this.#watched.start();
    const over = new AbortController();
    await Promise.all([
      this.#getAgain(over.signal),
      ...this.#schedule.storms.map((storm) => this.#rage(storm)),
      this.#change().finally(() => over.abort()),
    ]);
    this.#proxy.heal();
    // A write after the last fault: informers must receive it, so that an up-to-date store is not a coincidence.
    await this.#churn.touchAll();
    await this.#settle();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#watched.stop();
    await Promise.all([this.#api.close(), this.#direct.close()]);
    await until(() => this.#proxy.connections === 0).catch(() => undefined);
    const left = { connections: this.#proxy.connections, timers: this.#clock.sleeping };
    await this.#proxy.stop();
    await this.#server.close();
    assert.deepEqual(left, { connections: 0, timers: 0 }, 'no leaked resources');
  }

  async #change(): Promise<void> {
    const random = new SeededRandom(mix(this.#seed, 'pace'));
    for (let step = 0; step < steps; step += 1) {
      await this.#churn.step();
      if (random.next() < forgettingShare) this.#forget(random);
      await pause(random.next() * pauseMsMax, this.#stop.signal);
    }
  }

  /** The server drops its history: continue tokens expire, watches from older versions end with 410. */
  #forget(random: SeededRandom): void {
    this.#server.compactNow();
    if (whole(random, 2) === 0)
      this.#server.shrinkWatchWindow(pick(random, ['nodes', 'pods', 'leases.coordination.k8s.io']));
  }

  async #rage({ atMs, how }: Storm): Promise<void> {
    await pause(atMs, this.#stop.signal);
    this.#proxy.endAll(how);
  }

  /** Any result of a get is allowed: an object, or an ApiError. */
  async #getAgain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const got: unknown = await this.#api.get('nodes', { name: 'n0' }, { signal }).catch((error: unknown) => error);
      if (!(got instanceof ApiError))
        assert.equal((got as { metadata?: { name?: string } }).metadata?.name, 'n0', String(got));
      await pause(getPauseMs, signal);
    }
  }

  async #settle(): Promise<void> {
    const real = await clusterState(this.#direct, this.#stop.signal);
    const startMs = performance.now();
    const differences = (): readonly string[] => [
      ...this.#watched.differences(real),
      ...(this.#proxy.watches === 3 ? [] : [`${this.#proxy.watches} watches are open instead of 3`]),
    ];
    while (differences().length > 0) {
      assert.ok(performance.now() - startMs < settlingMsMax, differences().join('\n'));
      await pause(10, this.#stop.signal);
    }
    assert.deepEqual(this.#watched.violations(), []);
  }

  #makeApi(url: string, requestTimeoutMs: number): HttpKubeApi {
    const connection = plainConnection(url, { token: this.#server.adminToken });
    return makeKubeApi(connection, { ...this.#dependencies(), requestTimeoutMs });
  }

  #dependencies() {
    const random = new SeededRandom(mix(this.#seed, 'informers'));
    return { clock: this.#clock, random, logger: new RecordingLogger(), meter: this.#meter };
  }
}

/** The problems of one seed; empty if none. Never rejects. */
async function live(seed: number, meter: RecordingMeter): Promise<readonly string[]> {
  const world = await World.start(seed, meter);
  const lived = await outcomeOf(world.liveThrough());
  const ended = await outcomeOf(world.end());
  return [...lived, ...ended].map((failure) => `FAULT_SEED=${seed}: ${failure}`);
}

async function outcomeOf(part: Promise<void>): Promise<readonly string[]> {
  const [result] = await Promise.allSettled([part]);
  if (result.status === 'fulfilled') return [];
  const reason: unknown = result.reason;
  return [reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)];
}

/** Kinds of active resources of the process, each as often as it exists. */
function resources(): readonly string[] {
  return process.getActiveResourcesInfo().sort();
}

/** Runs seeds concurrently: they wait most of the time. */
async function liveTogether(seeds: readonly number[]): Promise<Lived> {
  const before = resources();
  const meter = new RecordingMeter();
  const failures = (await Promise.all(seeds.map((seed) => live(seed, meter)))).flat();
  await until(() => resources().join() === before.join()).catch(() => undefined);
  const after = resources();
  const leak =
    after.join() === before.join() ? [] : [`seeds ${seeds.join()}: left ${after.join()} of ${before.join()}`];
  return { failures: [...failures, ...leak], sums: summedUp(meter) };
}

function summedUp({ series }: RecordingMeter): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [key, value] of series) {
    const kind = key.replaceAll(/(host|resource)="[^"]*",?/g, '').replace(/,?\}$/, '}');
    sums.set(kind, (sums.get(kind) ?? 0) + value);
  }
  return sums;
}

if (!isMainThread && parentPort !== null) {
  parentPort.postMessage(await liveTogether(workerData as readonly number[]), []);
}
