// The dashboard of a controller in a test world, with clients.
import assert from 'node:assert/strict';
import { EventStreams } from '../../src/cli/dashboard/event-streams.ts';
import { DashboardKeeper } from '../../src/dashboard/server/dashboard-keeper.ts';
import type { DashboardSources } from '../../src/dashboard/server/dashboard-sources.ts';
import type { ServerInfo } from '../../src/dashboard/protocol.ts';
import type { ControllerWorld } from './controller-world.ts';
import { DashboardMirror } from './dashboard-mirror.ts';
import { FakePageStream } from './fake-page-stream.ts';
import { RecordingLogger, RecordingMeter } from './fakes.ts';
import { settled } from './manual-clock.ts';

export const aServer: ServerInfo = {
  version: '1.2.3',
  kind: 'controller',
  identity: 'this-replica',
  actionKinds: [],
  samplesEverySeconds: 10,
  timelineMax: 500,
};

/** A client that connects again when its stream ends, as the page does. */
class DashboardClient {
  readonly mirror = new DashboardMirror();
  readonly #streams: EventStreams;
  #stream: FakePageStream;
  #hasLeft = false;

  constructor(streams: EventStreams) {
    this.#streams = streams;
    this.#stream = this.#open();
  }

  get stream(): FakePageStream {
    return this.#stream;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#stream.end();
  }

  #open(): FakePageStream {
    const stream = new FakePageStream((text) => this.mirror.feed(text));
    const answer = this.#streams.answer();
    assert.ok('open' in answer, 'the client is not refused');
    answer.open(stream);
    stream.onClose(() => {
      if (!this.#hasLeft) this.#stream = this.#open();
    });
    return stream;
  }
}

export class DashboardWorld implements AsyncDisposable {
  readonly world: ControllerWorld;
  readonly keeper: DashboardKeeper;
  readonly streams: EventStreams;
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  requests = 0;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  /** `sources` replace those of the world. */
  constructor(world: ControllerWorld, sources: Partial<DashboardSources> = {}) {
    this.world = world;
    this.keeper = new DashboardKeeper({
      options: { current: () => world.options },
      controllers: world.controllers,
      podGc: { current: () => world.podGc },
      stages: world.lifecycle.stages,
      informers: { nodes: world.nodes, leases: world.leases, pods: world.pods },
      leadership: { holds: () => world.leading },
      holder: () => (world.leading ? 'this-replica' : 'other-replica'),
      clock: world.clock,
      server: aServer,
      requestsTotal: () => this.requests,
      shadowReport: () => undefined,
      logger: this.logger,
      ...sources,
    });
    this.streams = new EventStreams({
      source: this.keeper.board,
      clock: world.clock,
      logger: this.logger,
      meter: this.meter,
    });
    this.#running = this.keeper.run(this.#stop.signal);
  }

  /** A client that reads from now on. */
  connect(): DashboardClient {
    return new DashboardClient(this.streams);
  }

  /** The same, when it has its snapshot. */
  async connected(): Promise<DashboardClient> {
    const client = this.connect();
    await this.world.advance(1.5);
    for (let turn = 0; turn < 100 && client.mirror.snapshots === 0; turn += 1) await settled();
    assert.equal(client.mirror.snapshots, 1);
    return client;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.world.clock.advance(0);
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
