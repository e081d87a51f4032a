import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DashboardSource } from '../../../../src/dashboard/server/dashboard-source.ts';
import { clientsMax, EventStreams, pendingBytesMax, streamMsMax } from '../../../../src/cli/dashboard/event-streams.ts';
import { DashboardBoard } from '../../../../src/dashboard/server/dashboard-board.ts';
import type { Cluster, NodeCell } from '../../../../src/dashboard/protocol.ts';
import { DashboardMirror } from '../../../support/dashboard-mirror.ts';
import { aServer } from '../../../support/dashboard-world.ts';
import { FakePageStream } from '../../../support/fake-page-stream.ts';
import { RecordingLogger, RecordingMeter } from '../../../support/fakes.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { names } from '../../../support/zoned-world.ts';

const at = '2026-01-02T03:04:05Z';

const aCluster: Cluster = {
  at,
  mode: 'taint',
  leading: true,
  leader: 'a',
  shadow: false,
  replicas: ['a'],
  holds: [],
  policies: [],
  evictions: [],
  evictionsTotal: 0,
  comparison: null,
};

const aCell = (name: string, pods = 0): NodeCell => ({
  name,
  zone: '<script>alert(1)</script>\r\n\n: data',
  policy: null,
  state: 'ready',
  since: at,
  pods,
  held: null,
  next: null,
});

class Stand {
  readonly clock = new ManualClock();
  readonly logger = new RecordingLogger();
  readonly meter = new RecordingMeter();
  readonly board = new DashboardBoard({ server: aServer });
  readonly streams: EventStreams;

  constructor() {
    const { board, clock, logger, meter } = this;
    this.streams = new EventStreams({ source: board, clock, logger, meter });
    this.board.setCluster(aCluster);
  }

  connect(): { readonly mirror: DashboardMirror; readonly stream: FakePageStream } {
    const mirror = new DashboardMirror();
    const stream = new FakePageStream((text) => mirror.feed(text));
    const answer = this.streams.answer();
    assert.ok('open' in answer);
    answer.open(stream);
    return { mirror, stream };
  }

  /** Publishes, and lets pieces be read. */
  async tick(seconds = 1): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await this.clock.advance(1_000);
      this.board.publish();
      await settled();
    }
  }

  async read(times = 20): Promise<void> {
    for (let i = 0; i < times; i += 1) await settled();
  }

  count(reason: string): number | undefined {
    return this.meter.series.get(`node_lifecycle_dashboard_snapshots_total{reason="${reason}"}`);
  }
}

test('a client gets a snapshot, then deltas of what changed, and a comment when nothing did', async () => {
  const stand = new Stand();
  const { mirror } = stand.connect();
  for (const name of names(450)) stand.board.set(aCell(name));
  await stand.tick();
  await stand.read();
  assert.deepEqual([mirror.snapshots, mirror.nodes.size], [1, 450]);
  assert.deepEqual(mirror.nodes.get('n449'), aCell('n449'));
  stand.board.set(aCell('n1', 7));
  await stand.tick();
  assert.deepEqual(mirror.deltas, [{ nodes: [aCell('n1', 7)] }]);
  await stand.tick(20);
  assert.deepEqual([mirror.deltas.length, mirror.snapshots], [1, 1]);
  assert.equal(mirror.comments, 1);
});

test('nothing but comments is sent before the source is complete', async () => {
  const stand = new Stand();
  const { mirror } = stand.connect();
  await stand.clock.advance(1_000);
  assert.equal(mirror.snapshots, 0);
  stand.board.publish();
  await stand.read();
  assert.equal(mirror.snapshots, 1);
});

test('what changes while a snapshot is being read is in the next delta', async () => {
  const stand = new Stand();
  for (const name of names(1_000)) stand.board.set(aCell(name));
  const { mirror, stream } = stand.connect();
  stream.stick();
  await stand.tick();
  stand.board.set(aCell('n0', 5));
  stand.board.remove('n999');
  stand.board.set(aCell('new'));
  await stand.tick(2);
  assert.equal(mirror.snapshots, 0);
  stream.unstick();
  await stand.read();
  assert.equal(mirror.snapshots, 1);
  await stand.tick();
  assert.deepEqual(
    [mirror.nodes.size, mirror.nodes.get('n0')?.pods, mirror.nodes.has('n999'), mirror.nodes.has('new')],
    [1_000, 5, false, true],
  );
});

test('a client that does not read is sent nothing more, and gets a snapshot when it does', async () => {
  const stand = new Stand();
  for (const name of names(1_900)) stand.board.set(aCell(name));
  const { mirror, stream } = stand.connect();
  await stand.tick();
  await stand.read();
  stream.stick();
  for (let tick = 1; tick <= 12; tick += 1) {
    for (const name of names(1_900)) stand.board.set(aCell(name, tick));
    await stand.tick();
  }
  assert.ok(stream.pendingBytes > pendingBytesMax);
  assert.ok(stream.pendingBytes < 4 * pendingBytesMax, 'what is sent to a slow client is bounded');
  stream.unstick();
  await stand.tick();
  await stand.read();
  assert.equal(mirror.snapshots, 2);
  assert.deepEqual([stand.count('new'), stand.count('slow'), stand.count('changes')], [1, 1, 0]);
  assert.ok([...mirror.nodes.values()].every(({ pods }) => pods === 12));
});

test('a client that never reads is disconnected', async () => {
  const stand = new Stand();
  for (const name of names(1_900)) stand.board.set(aCell(name));
  const { stream } = stand.connect();
  stream.stick();
  await stand.tick(29);
  assert.equal(stream.hasEnded, false);
  await stand.tick(3);
  assert.deepEqual([stream.hasEnded, stand.streams.size, stand.board.isWatched], [true, 0, false]);
});

test('if too much changes at once every client gets a snapshot', async () => {
  const stand = new Stand();
  const [one, other] = [stand.connect(), stand.connect()];
  await stand.tick();
  for (const name of names(10_000)) stand.board.set(aCell(name));
  await stand.tick();
  await stand.read(80);
  for (const { mirror } of [one, other]) {
    assert.deepEqual([mirror.snapshots, mirror.deltas.length, mirror.nodes.size], [2, 0, 10_000]);
  }
  assert.equal(stand.count('changes'), 2);
});

test('another generation of the source is a snapshot for all', async () => {
  let generation = 0;
  const stand = new Stand();
  const source: DashboardSource = {
    get generation() {
      return generation;
    },
    get version() {
      return stand.board.version;
    },
    get isComplete() {
      return stand.board.isComplete;
    },
    watch: (onTick) => stand.board.watch(onTick),
    head: () => stand.board.head(),
    names: () => stand.board.names(),
    node: (name) => stand.board.node(name),
    changes: (since) => stand.board.changes(since),
  };
  const { clock, logger, meter } = stand;
  const streams = new EventStreams({ source, clock, logger, meter });
  const mirror = new DashboardMirror();
  const answer = streams.answer();
  assert.ok('open' in answer);
  answer.open(new FakePageStream((text) => mirror.feed(text)));
  await stand.tick();
  generation = 1;
  await stand.tick(2);
  assert.equal(mirror.snapshots, 2);
});

test('one client too many is refused with the time to try again, and a free place is given to the next', async () => {
  const stand = new Stand();
  const clients = Array.from({ length: clientsMax }, () => stand.connect());
  assert.equal(stand.meter.series.get('node_lifecycle_dashboard_clients'), clientsMax);
  const refused = stand.streams.answer();
  assert.ok('body' in refused);
  assert.deepEqual([refused.status, refused.headers], [503, { 'retry-after': '10' }]);
  assert.equal(stand.meter.series.get('node_lifecycle_dashboard_refused_total'), 1);
  clients[0]?.stream.end();
  assert.equal(stand.streams.size, clientsMax - 1);
  stand.connect();
  for (const { stream } of clients) stream.end();
  assert.equal(stand.streams.size, 1);
});

test('the source is watched while there is a client', () => {
  const stand = new Stand();
  assert.equal(stand.board.isWatched, false);
  const [one, other] = [stand.connect(), stand.connect()];
  one.stream.end();
  assert.equal(stand.board.isWatched, true);
  other.stream.end();
  assert.equal(stand.board.isWatched, false);
  stand.connect();
  assert.equal(stand.board.isWatched, true);
});

test('a client that went before it was answered leaves nothing', () => {
  const stand = new Stand();
  const answer = stand.streams.answer();
  assert.ok('open' in answer);
  answer.open({
    pendingBytes: 0,
    write: () => undefined,
    drained: () => Promise.resolve(),
    end: () => undefined,
    onClose: (listener) => listener(),
  });
  assert.deepEqual([stand.streams.size, stand.board.isWatched], [0, false]);
});

test('a stream ends after its time, so that the client is authorized again', async () => {
  const stand = new Stand();
  const { stream } = stand.connect();
  await stand.tick(streamMsMax / 1_000 - 1);
  assert.equal(stream.hasEnded, false);
  await stand.tick(2);
  assert.equal(stream.hasEnded, true);
});

test('a stream ends after its time although the source does nothing', async () => {
  const stand = new Stand();
  const { stream } = stand.connect();
  await stand.clock.advance(streamMsMax);
  assert.deepEqual([stream.hasEnded, stand.clock.sleeping], [true, 0]);
});

test('a client that has gone leaves no timer', () => {
  const stand = new Stand();
  stand.connect().stream.end();
  assert.equal(stand.clock.sleeping, 0);
});

test('a failure to send to one client ends its stream, and no other', async () => {
  const stand = new Stand();
  const answer = stand.streams.answer();
  assert.ok('open' in answer);
  let ended = 0;
  answer.open({
    pendingBytes: 0,
    write: () => {
      throw new Error('broken stream');
    },
    drained: () => Promise.resolve(),
    end: () => void (ended += 1),
    onClose: () => undefined,
  });
  const { mirror } = stand.connect();
  await stand.tick(2);
  assert.equal(mirror.snapshots, 1);
  assert.ok(ended > 0);
  assert.ok(stand.logger.at('error').length > 0);
});
