import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../../../src/machinery/api/meta.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { HollowFleet, type HollowFleetOptions } from '../../../../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { WheelClock } from '../../../../../src/hollow-cluster/kubelet/loops/wheel-clock.ts';
import { aPod } from '../../../../support/builders.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger, SeededRandom, silentLogger } from '../../../../support/fakes.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
/** Statuses cost as much as leases, and only leases are checked here. */
const leasesOnly = { nodeStatusUpdateFrequencyMs: 30 * minuteMs, nodeStatusReportFrequencyMs: 60 * minuteMs };

const boundPod = (name: string, nodeName: string): Pod =>
  aPod(name, { spec: { nodeName, terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'i:1' }] } });

/** Many nodes on one timer wheel, over a manual clock. */
class Herd {
  readonly manual = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly clock = new WheelClock({ clock: this.manual, logger: this.logger });
  readonly api = new MemoryApi(this.manual);
  readonly fleet: HollowFleet;
  readonly #life = new AbortController();
  readonly #running: Promise<void>;

  constructor(count: number, options: Partial<HollowFleetOptions> = {}) {
    this.fleet = new HollowFleet({
      api: this.api,
      clock: this.clock,
      logger: silentLogger,
      random: new SeededRandom(1),
      nodes: Array.from({ length: count }, (_, index) => ({
        name: `node-${index}`,
        labels: { 'topology.kubernetes.io/zone': index % 10 < 3 ? 'disconnected' : 'connected' },
      })),
      ...options,
    });
    this.#running = this.fleet.run(this.#life.signal);
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  /** Times of lease writes in milliseconds, from `fromMs` on. */
  writesSince(fromMs: number): readonly number[] {
    return this.api.requests
      .filter(({ verb, resource, atMs }) => verb === 'replace' && resource === 'leases' && atMs >= fromMs)
      .map(({ atMs }) => atMs);
  }

  async end(): Promise<void> {
    this.#life.abort();
    await this.manual.advance(0);
    await this.#running;
    assert.equal(this.clock.sleeping, 0, 'no pending sleeps after the end');
  }
}

describe('a fleet of many nodes', () => {
  it('renews evenly: each window of 10 s is within 10 % of the mean, and no renewal is late (600 nodes scaled to 10,000) [L1]', async () => {
    const herd = new Herd(600, { profile: leasesOnly });
    await herd.manual.advance(minuteMs);
    const fromMs = herd.manual.monotonicMs();
    await herd.manual.advance(5 * minuteMs);
    const windows = new Map<number, number>();
    for (const atMs of herd.writesSince(fromMs)) {
      const window = Math.floor((atMs - fromMs) / (10 * secondMs));
      if (atMs < fromMs + 5 * minuteMs) windows.set(window, (windows.get(window) ?? 0) + 1);
    }
    const mean = (600 / 10.2) * 10;
    const counts = [...windows.values()];
    assert.equal(counts.length, 30);
    assert.ok(
      counts.every((count) => Math.abs(count - mean) <= mean * 0.1),
      counts.join(' '),
    );
    assert.ok(herd.clock.lateness.p99Ms < 500);
    assert.equal(herd.fleet.status().ready, 600);
    await herd.end();
  });

  it('renews together with aligned phases, and drifts apart by jitter alone (300 nodes) [L2]', async () => {
    const herd = new Herd(300, { profile: { ...leasesOnly, leasePhase: 'aligned' } });
    await herd.manual.advance(15 * secondMs);
    const startMs = herd.manual.monotonicMs() - 15 * secondMs;
    // The leases are created at the second heartbeat, when their nodes exist.
    const second = herd.api.requests.filter(({ verb, resource }) => verb === 'create' && resource === 'leases');
    const herded = second.filter(({ atMs }) => atMs - startMs >= 10_000 && atMs - startMs < 11_000);
    assert.ok(herded.length > 270, `${herded.length} of 300 in one second`);
    await herd.manual.advance(5 * minuteMs);
    const beats = Map.groupBy(
      herd.api.requests.filter(({ verb, resource }) => verb === 'replace' && resource === 'leases'),
      ({ name }) => name,
    );
    const periods = 20;
    const times = [...beats.values()].map((requests) => requests[periods]?.atMs ?? Number.NaN);
    const mean = times.reduce((sum, atMs) => sum + atMs, 0) / times.length;
    const sigma = Math.sqrt(times.reduce((sum, atMs) => sum + (atMs - mean) ** 2, 0) / times.length);
    // The creation and the renewals after it.
    assert.ok(sigma <= 120 * Math.sqrt(periods + 2) * 1.15, `${sigma} ms after ${periods} periods`);
    assert.ok(sigma > 200, 'renewals drift apart');
    await herd.end();
  });

  it('idle nodes send nothing but lease renewals, over two watches (300 nodes scaled to 10,000) [L3]', async () => {
    const herd = new Herd(300);
    await herd.manual.advance(30 * secondMs);
    const before = herd.api.requests.length;
    await herd.manual.advance(minuteMs);
    const requests = herd.api.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
    const count = (kind: string): number => requests.filter((request) => request === kind).length;
    // A watch that is opened again reads the version of the storage once.
    for (const resource of ['nodes', 'pods']) assert.equal(count(`list ${resource}`), count(`watch ${resource}`));
    const asked = new Set(requests.filter((request) => !/^(watch|list) (nodes|pods)$/.test(request)));
    assert.deepEqual([...asked], ['replace leases']);
    const watched = herd.api.requests.filter(({ verb }) => verb === 'watch').map(({ resource }) => resource);
    assert.deepEqual([...new Set(watched)].sort(), ['nodes', 'pods']);
    // Timers for the lease, the status and the machine monitors only.
    assert.ok(herd.clock.sleeping <= 5 * 300, `${herd.clock.sleeping} sleeps`);
    await herd.end();
  });

  it('records a stall, reports the run as invalid, and catches up with one renewal per node (200 nodes) [L4]', async () => {
    const herd = new Herd(200, { profile: leasesOnly });
    await herd.manual.advance(20 * secondMs);
    assert.equal(herd.clock.lateness.isValid, true);
    const before = herd.api.requests.length;
    herd.manual.stall(3 * secondMs);
    await herd.manual.advance(20);
    const caughtUp = herd.api.requests.slice(before).filter(({ resource }) => resource === 'leases');
    assert.ok(caughtUp.length >= 40, `${caughtUp.length} renewals were due meanwhile`);
    assert.equal(new Set(caughtUp.map(({ name }) => name)).size, caughtUp.length, 'none is renewed twice');
    assert.ok(herd.clock.lateness.maxMs > 2_500);
    assert.equal(herd.clock.lateness.isValid, false);
    assert.match(herd.logger.lines.map(({ message }) => message).join(), /event loop stalled/);
    await herd.end();
  });

  it('reconnects 60 of 200 nodes at once: each receives the current state, and pods are correct within 60 s (scaled to 3,000 of 10,000) [L5]', async () => {
    const herd = new Herd(200);
    await herd.manual.advance(30 * secondMs);
    const disconnected = [...herd.fleet.nodes()].filter(
      ({ labels }) => labels['topology.kubernetes.io/zone'] === 'disconnected',
    );
    assert.equal(disconnected.length, 60);
    await Promise.all(disconnected.map(({ name }) => herd.api.create('pods', boundPod(`old-${name}`, name))));
    await herd.manual.advance(10 * secondMs);
    const fault = { kind: 'partition', direction: 'all', manner: 'silent' } as const;
    herd.fleet.faults.post({ id: 'd', selector: { zone: 'disconnected' }, fault });
    await herd.manual.advance(minuteMs);
    for (const { name } of disconnected) {
      const { metadata }: KubeObject = await herd.api.get('pods', { namespace: 'default', name: `old-${name}` });
      const options = { uid: metadata.uid ?? '', signal: herd.signal };
      await herd.api.delete('pods', { namespace: 'default', name: `old-${name}` }, options);
      await herd.api.create('pods', boundPod(`new-${name}`, name));
    }
    await herd.manual.advance(minuteMs);
    herd.fleet.faults.withdraw('d');
    await herd.manual.advance(minuteMs);
    const pods: readonly Pod[] = herd.api.all('pods');
    assert.equal(pods.length, 60, 'the pods that were deleted during the partition are gone');
    assert.ok(pods.every(({ status }) => status?.phase === 'Running'));
    assert.ok(herd.clock.lateness.p99Ms < secondMs);
    await herd.end();
  });

  it('stops at once, even if no request is answered (300 nodes scaled to 10,000) [L8]', async () => {
    const manual = new ManualClock();
    const clock = new WheelClock({ clock: manual, logger: silentLogger });
    const life = new AbortController();
    const nodes = Array.from({ length: 300 }, (_, index) => ({ name: `node-${index}`, labels: {} }));
    const fleet = new HollowFleet({
      api: hangingUntilLeft(new MemoryApi(manual)),
      clock,
      logger: silentLogger,
      random: new SeededRandom(1),
      nodes,
    });
    const running = fleet.run(life.signal);
    await manual.advance(minuteMs);
    assert.equal(fleet.status().registered, 0);
    const startMs = performance.now();
    life.abort();
    await manual.advance(0);
    await running;
    assert.ok(performance.now() - startMs < 10 * secondMs);
    assert.equal(clock.sleeping, 0);
  });
});

function aborted(): ApiError {
  return new ApiError({ reason: 'aborted', message: 'cancelled' });
}

/** An API server that answers no request; a request ends when its signal aborts, as with an HTTP client. */
function hangingUntilLeft(api: MemoryApi): MemoryApi {
  return new Proxy(api, {
    get: () => {
      return (...given: readonly unknown[]) => {
        const options = given.findLast((each) => typeof each === 'object' && each !== null && 'signal' in each);
        const { signal } = options as { readonly signal: AbortSignal };
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(aborted());
          });
          if (signal.aborted) reject(aborted());
        });
      };
    },
  });
}
