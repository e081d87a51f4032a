import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FollowingSource } from '../../../../../src/cli/simulation/demo/following-source.ts';
import { DashboardBoard } from '../../../../../src/dashboard/server/dashboard-board.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

function boardOf(identity: string): DashboardBoard {
  const board = new DashboardBoard({
    server: { version: '1', kind: 'controller', identity, actionKinds: [], samplesEverySeconds: 10, timelineMax: 10 },
  });
  return board;
}

/** Makes it complete, and publishes. */
function publish(board: DashboardBoard, at: string): void {
  board.setCluster({
    at,
    mode: at,
    leading: true,
    leader: null,
    shadow: false,
    replicas: [],
    holds: [],
    policies: [],
    evictions: [],
    evictionsTotal: 0,
    comparison: null,
  });
  board.publish();
}

function stand() {
  const clock = new ManualClock();
  const boards = { a: boardOf('a'), b: boardOf('b') };
  const chosen = { board: boards.a };
  const server = { kind: 'demo', actionKinds: ['undo'] } as const;
  const source = new FollowingSource({ choose: () => chosen.board, server, clock });
  return { clock, ...boards, chosen, source };
}

test('the page is that of the demo, whatever replica it follows', () => {
  const { a, source } = stand();
  publish(a, 'one');
  const { server } = source.head();
  assert.deepEqual([server.kind, server.identity, server.actionKinds], ['demo', 'a', ['undo']]);
});

test('another replica is followed as soon as it is complete, and then every client gets a snapshot', async () => {
  const { clock, a, b, chosen, source } = stand();
  const life = new AbortController();
  const running = source.run(life.signal);
  let ticks = 0;
  const unwatch = source.watch(() => (ticks += 1));
  publish(a, 'one');
  assert.deepEqual([ticks, source.isComplete, source.head().server.identity], [1, true, 'a']);
  const { generation } = source;

  chosen.board = b;
  await clock.advance(500);
  assert.deepEqual([source.head().server.identity, b.isWatched, source.generation], ['a', true, generation]);
  publish(b, 'two');
  await clock.advance(500);
  assert.equal(source.head().server.identity, 'b');
  assert.ok(source.generation > generation && ticks >= 2);
  assert.deepEqual([a.isWatched, b.isWatched], [false, true]);

  // What the former one publishes is not passed on.
  const before = ticks;
  publish(a, 'three');
  assert.equal(ticks, before);
  unwatch();
  assert.equal(b.isWatched, false);
  life.abort();
  await running;
});

test('without a client no replica is watched, and the wanted one is followed at once', async () => {
  const { clock, a, b, chosen, source } = stand();
  const life = new AbortController();
  const running = source.run(life.signal);
  chosen.board = b;
  await clock.advance(500);
  assert.deepEqual([a.isWatched, b.isWatched, source.isComplete], [false, false, false]);
  life.abort();
  await running;
});
