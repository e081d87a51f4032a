// Informers and freshness together, at an API server that answers requests for watches late, or for one resource not at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchFreshness } from '../../../src/controller/freshness/watch-freshness.ts';
import { ApiError, type ApiReason } from '../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../src/machinery/api/meta.ts';
import type { ResourceName } from '../../../src/machinery/api/resources.ts';
import { SharedInformer } from '../../../src/machinery/informer/shared-informer.ts';
import type { KubeReader, WatchEvent, WatchStream } from '../../../src/machinery/ports/kube-reader.ts';
import { ApiContact } from '../../../src/machinery/supervision/api-contact.ts';
import { RecordingMeter, RecordingRecorder, SeededRandom, silentLogger } from '../../support/fakes.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const resources = ['nodes', 'leases', 'pods'] as const;
const failure = (reason: ApiReason): ApiError => new ApiError({ reason, message: reason });

/** What the API server does. Reads of its version, which are lists of one object, are answered. */
class Server {
  readonly clock = new ManualClock();
  isUp = true;
  /** From the request for a watch to its answer. */
  openMs = 50;
  listMs = 1_000;
  /** Their watches get no answer: the client gives up after 30 s. */
  readonly hanging = new Set<ResourceName>();
  readonly busyLists = new Set<ResourceName>();
  readonly busyWatches = new Set<ResourceName>();
  /** `list pods`, `watch-list pods` or `watch pods`. */
  asked: string[] = [];

  get version(): string {
    return String(1_000 + Math.floor(this.clock.monotonicMs() / 100));
  }

  count(what: string): number {
    return this.asked.filter((each) => each === what).length;
  }

  readonly reader: Pick<KubeReader, 'list' | 'watch'> = {
    list: async (resource, { limit, signal }) => {
      if (limit !== 1) this.asked.push(`list ${resource}`);
      await this.#answer(limit === 1 ? 5 : this.listMs, limit !== 1 && this.busyLists.has(resource), signal);
      return { metadata: { resourceVersion: this.version }, items: limit === 1 ? [] : [this.#object()] };
    },
    watch: async (resource, { sendInitialEvents: isList = false, signal }) => {
      this.asked.push(`${isList ? 'watch-list' : 'watch'} ${resource}`);
      const isBusy = (isList ? this.busyLists : this.busyWatches).has(resource);
      const hangs = this.hanging.has(resource);
      await this.#answer(hangs ? 30_000 : isList ? 1_000 : this.openMs, isBusy, signal);
      if (hangs) throw failure('timeout');
      return this.#stream(isList, signal);
    },
  };

  #object(): KubeObject {
    return { metadata: { name: 'one', uid: 'one', resourceVersion: this.version } };
  }

  async #answer(afterMs: number, isBusy: boolean, signal: AbortSignal): Promise<void> {
    if (!this.isUp) throw failure('unavailable');
    if (isBusy) throw failure('too-many-requests');
    await this.clock.sleep(afterMs, signal);
    if (signal.aborted) throw failure('aborted');
    if (!this.isUp) throw failure('unavailable');
  }

  async *#stream(isList: boolean, signal: AbortSignal): WatchStream {
    const end = { 'k8s.io/initial-events-end': 'true' };
    const bookmark = (annotations = {}): WatchEvent => {
      return { type: 'BOOKMARK', object: { metadata: { resourceVersion: this.version, annotations } } };
    };
    if (isList) yield [{ type: 'ADDED', object: this.#object() }, bookmark(end)];
    for (;;) {
      await this.clock.sleep(500, signal);
      if (signal.aborted) throw failure('aborted');
      if (!this.isUp) throw failure('unavailable');
      yield [bookmark()];
    }
  }
}

class Leader implements AsyncDisposable {
  readonly server = new Server();
  readonly informers: Readonly<Record<(typeof resources)[number], SharedInformer<KubeObject, KubeObject>>>;
  readonly freshness: WatchFreshness;
  readonly #contact: ApiContact;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[];

  constructor() {
    const { clock, reader } = this.server;
    const contact = new ApiContact(clock);
    this.#contact = contact;
    const [nodes, leases, pods] = resources.map((resource, seed) => {
      return new SharedInformer({
        resource,
        transform: (object: KubeObject) => object,
        identity: ({ metadata }: KubeObject) => ({ uid: metadata?.uid ?? '', resourceVersion: '' }),
        api: reader as KubeReader,
        clock,
        random: new SeededRandom(seed),
        logger: silentLogger,
        meter: new RecordingMeter(),
        contact,
      });
    });
    if (nodes === undefined || leases === undefined || pods === undefined) throw new Error('an informer is missing');
    this.informers = { nodes, leases, pods };
    this.freshness = new WatchFreshness({
      options: { current: () => ({ nodeMonitorGracePeriodMs: 40_000, staleWatchHoldMs: 60_000 }) },
      ...this.informers,
      live: { probe: (signal) => this.#probe(signal) },
      reopen: (openedByMs) => resources.forEach((resource) => this.informers[resource].reopen(openedByMs)),
      onRollback: () => undefined,
      decisions: { note: () => undefined },
      recorder: new RecordingRecorder(),
      meter: new RecordingMeter(),
      clock,
    });
    this.#running = resources.map((resource) => this.informers[resource].run(this.#stop.signal));
  }

  async #probe(signal: AbortSignal): Promise<string> {
    await this.server.clock.sleep(20, signal);
    if (!this.server.isUp) throw failure('unavailable');
    this.#contact.answered();
    return this.server.version;
  }

  /** In sync, and leading for half a minute. */
  async start(): Promise<this> {
    await this.server.clock.advance(8_000);
    this.#running.push(this.freshness.run(this.#stop.signal));
    await this.server.clock.advance(30_000);
    return this;
  }

  async away(ms: number): Promise<void> {
    this.server.isUp = false;
    await this.server.clock.advance(ms);
    this.server.isUp = true;
    this.server.asked = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.server.clock.advance(60_000);
    await Promise.all(this.#running);
  }
}

for (const openMs of [12_000, 25_000])
  test(`watches that are answered after ${openMs / 1_000} s are opened after an outage, and lists end`, async () => {
    await using leader = await new Leader().start();
    const { server, informers } = leader;
    server.openMs = openMs;
    await leader.away(70_000);
    await server.clock.advance(300_000);
    server.asked = [];
    await server.clock.advance(600_000);
    assert.deepEqual([server.count('list nodes'), server.count('list leases')], [0, 0]);
    assert.equal(informers.nodes.status().state, 'watching');
    assert.equal(leader.freshness.staleness(), undefined);
  });

test('watches that are answered after 25 s are opened, and lists of 9 s end', async () => {
  await using leader = await new Leader().start();
  const { server, freshness } = leader;
  server.openMs = 25_000;
  server.listMs = 9_000;
  await leader.away(70_000);
  await server.clock.advance(300_000);
  server.asked = [];
  await server.clock.advance(600_000);
  assert.deepEqual([server.count('list nodes'), server.count('list leases')], [0, 0]);
  assert.equal(freshness.staleness(), undefined);
});

for (const busy of [['nodes'], ['nodes', 'leases']] as const)
  test(`watches are opened that were refused for a minute, while lists are refused on (${busy.join(', ')})`, async () => {
    await using leader = await new Leader().start();
    const { server, informers, freshness } = leader;
    for (const resource of busy) {
      server.busyLists.add(resource);
      server.busyWatches.add(resource);
      informers[resource].reopen();
    }
    await server.clock.advance(60_000);
    server.busyWatches.clear();
    await server.clock.advance(180_000);
    for (const resource of busy) assert.equal(informers[resource].status().state, 'watching');
    assert.equal(freshness.staleness(), undefined);
  });

test('a watch of nodes that delivers stays open while lists stand in for that of leases', async () => {
  await using leader = await new Leader().start();
  const { server, informers, freshness } = leader;
  server.hanging.add('leases');
  server.busyLists.add('nodes');
  informers.leases.reopen();
  await server.clock.advance(120_000);
  const fromMs = freshness.nowMs();
  await server.clock.advance(600_000);
  assert.equal(server.count('list nodes'), 0);
  assert.ok(server.count('list leases') >= 15);
  assert.ok(freshness.nowMs() - fromMs >= 150_000, 'the health clock runs');
});

for (const hanging of [['leases'], ['nodes'], ['nodes', 'leases']] as const)
  test(`lists stand in for watches that are never answered (${hanging.join(', ')})`, async () => {
    await using leader = await new Leader().start();
    const { server, freshness } = leader;
    for (const resource of hanging) server.hanging.add(resource);
    for (const resource of hanging) leader.informers[resource].reopen();
    await server.clock.advance(240_000);
    const [fromMs, staleFrom] = [freshness.nowMs(), server.clock.monotonicMs()];
    let staleMs = 0;
    for (let second = 0; second < 1_800; second += 1) {
      await server.clock.advance(1_000);
      if (freshness.staleness() !== undefined) staleMs += 1_000;
    }
    const share = (freshness.nowMs() - fromMs) / (server.clock.monotonicMs() - staleFrom);
    assert.ok(share > 0.25, `the health clock runs for ${Math.round(share * 100)} % of the time`);
    assert.ok(staleMs <= 60_000, `stale for ${staleMs} ms`);
  });

test('after an outage the watch of pods goes on from its version', async () => {
  await using leader = await new Leader().start();
  await leader.away(90_000);
  await leader.server.clock.advance(90_000);
  assert.equal(leader.informers.pods.status().state, 'watching');
  assert.deepEqual([leader.server.count('list pods'), leader.server.count('watch-list pods')], [0, 0]);
});

test('a watch of pods is tried again while lists of pods are refused as too many', async () => {
  await using leader = await new Leader().start();
  const { server, informers } = leader;
  server.busyLists.add('pods');
  server.busyWatches.add('pods');
  informers.pods.reopen();
  await server.clock.advance(180_000);
  assert.ok(server.count('list pods') >= 1, 'a list was asked for');
  assert.equal(leader.freshness.arePodsStale(), false, 'deletions are held no longer');
  server.busyWatches.delete('pods');
  // A list that was asked for and a watch, each after a delay of a minute at most.
  await server.clock.advance(120_000);
  assert.equal(informers.pods.status().state, 'watching');
});

test('pods are listed once a minute while their watch alone is refused', async () => {
  await using leader = await new Leader().start();
  const { server } = leader;
  server.busyWatches.add('pods');
  leader.informers.pods.reopen();
  await server.clock.advance(50_000);
  assert.equal(server.count('list pods'), 0);
  server.asked = [];
  await server.clock.advance(600_000);
  const lists = server.count('list pods');
  assert.ok(lists >= 6 && lists <= 10, `${lists} lists in 10 minutes`);
});
