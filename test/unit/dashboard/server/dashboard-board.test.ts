import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DashboardBoard, deltaNodesMax } from '../../../../src/dashboard/server/dashboard-board.ts';
import type { Cluster, Delta, NodeCell, Sample, TimelineLine } from '../../../../src/dashboard/protocol.ts';
import { aServer } from '../../../support/dashboard-world.ts';

const at = '2026-01-02T03:04:05Z';

const aCell = (name: string, pods = 0): NodeCell => ({
  name,
  zone: 'r/a',
  policy: null,
  state: 'ready',
  since: at,
  pods,
  held: null,
  next: null,
});

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

const aLine = (id: number): TimelineLine => ({
  id,
  at,
  kind: 'node-removed',
  text: `line ${id}`,
  warning: false,
  node: null,
  pod: null,
  zone: null,
});

const aSample = (silent: number): Sample => ({
  at,
  silent,
  evictions: 0,
  requests: 0,
  heartbeatP50: null,
  heartbeatP99: null,
});

function aBoard(): DashboardBoard {
  const board = new DashboardBoard({ server: aServer });
  board.setCluster(aCluster);
  board.publish();
  return board;
}

test('a snapshot is complete after the first publication with a cluster, and not after everything was forgotten', () => {
  const board = new DashboardBoard({ server: aServer });
  board.publish();
  assert.equal(board.isComplete, false);
  assert.throws(() => board.head(), /no snapshot before the first publication/);
  board.setCluster(aCluster);
  board.publish();
  assert.equal(board.isComplete, true);
  board.clear();
  assert.equal(board.isComplete, false);
});

test('what is set again and shows the same is no change', () => {
  const board = aBoard();
  board.set(aCell('n1'));
  board.publish();
  const { version } = board;
  board.set({ ...aCell('n1') });
  board.setCluster({ ...aCluster, at: '2026-01-02T03:04:06Z' });
  board.setZones([]);
  board.remove('unknown');
  board.publish();
  assert.equal(board.version, version);
  assert.deepEqual(board.changes(version), {});
});

test('changes are those since the version, each node once and as it is now', () => {
  const board = aBoard();
  const { version } = board;
  const end = board.watch(() => undefined);
  board.set(aCell('n1', 1));
  board.set(aCell('n2'));
  board.publish();
  board.set(aCell('n1', 2));
  board.remove('n2');
  board.addLines([aLine(1)]);
  board.addLines([aLine(2)]);
  board.publish();
  assert.deepEqual(board.changes(version), {
    nodes: [aCell('n1', 2)],
    removedNodes: ['n2'],
    timeline: [aLine(1), aLine(2)],
  } satisfies Delta);
  assert.deepEqual(board.changes(board.version), {});
  end();
});

test('lines that are added without a watcher are in the snapshot, and in no delta', () => {
  const board = aBoard();
  board.setCluster(aCluster);
  board.publish();
  const { version } = board;
  for (let id = 1; id <= 10_000; id += 1) board.addLines([aLine(id)]);
  const end = board.watch(() => undefined);
  board.set(aCell('n1'));
  board.publish();
  assert.equal(board.head().timeline.length, 500);
  assert.deepEqual(board.changes(version), { nodes: [aCell('n1')] });
  end();
});

test('changes that are too many, too old, or of a version that does not exist, need a snapshot', () => {
  const board = aBoard();
  const { version } = board;
  for (let i = 0; i < deltaNodesMax; i += 1) board.set(aCell(`n${i}`));
  board.publish();
  assert.equal(board.changes(version)?.nodes?.length, deltaNodesMax);
  board.set(aCell('one-more'));
  board.publish();
  assert.equal(board.changes(version), undefined, 'together they are too many');
  assert.equal(board.changes(board.version - 1)?.nodes?.length, 1);
  const old = board.version;
  for (let i = 0; i < 9; i += 1) {
    board.set(aCell('n1', i + 1));
    board.publish();
  }
  assert.equal(board.changes(old), undefined);
  assert.equal(board.changes(board.version + 1), undefined);
  const before = board.version;
  board.clear();
  assert.equal(board.changes(before), undefined, 'everything was forgotten since');
});

test('a delta has one sample; a client that missed two gets a snapshot', () => {
  const board = aBoard();
  const end = board.watch(() => undefined);
  const { version } = board;
  board.addSample(aSample(1));
  board.publish();
  assert.deepEqual(board.changes(version)?.sample, aSample(1));
  board.addSample(aSample(2));
  board.publish();
  assert.equal(board.changes(version), undefined);
  assert.deepEqual(board.head().samples, [aSample(1), aSample(2)]);
  end();
});

test('lines and samples are kept up to their maximum, and after the rest was forgotten', () => {
  const board = aBoard();
  for (let id = 1; id <= 600; id += 1) {
    board.addLines([aLine(id)]);
    board.addSample(aSample(id));
    board.publish();
  }
  board.clear();
  board.setCluster(aCluster);
  board.publish();
  const { timeline, samples } = board.head();
  assert.deepEqual([timeline.length, timeline.at(0)?.id, timeline.at(-1)?.id], [500, 101, 600]);
  assert.deepEqual([samples.length, samples.at(0)?.silent], [360, 241]);
  assert.ok(board.size.others <= 500 + 360);
});

test('watchers are called with each publication, and the first one wakes the owner', () => {
  let woken = 0;
  let ticks = 0;
  const board = new DashboardBoard({ server: aServer, onWatch: () => (woken += 1) });
  const count = (): void => void (ticks += 1);
  const [end, endOther] = [board.watch(count), board.watch(count)];
  board.publish();
  assert.deepEqual([woken, ticks, board.isWatched], [1, 2, true]);
  end();
  end();
  assert.equal(board.isWatched, true, 'the other one watches');
  endOther();
  board.publish();
  assert.deepEqual([ticks, board.isWatched], [2, false]);
});

test('a client that applies the changes of any versions has the nodes of the board', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    pods: fc.integer({ min: 0, max: 3 }),
    act: fc.constantFrom('set', 'set', 'remove', 'publish', 'read'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const board = aBoard();
      let { version } = board;
      const client = new Map<string, NodeCell>();
      const read = (): void => {
        const delta = board.changes(version);
        if (delta === undefined) client.clear();
        const changed = delta === undefined ? board.names().flatMap((name) => board.node(name) ?? []) : delta.nodes;
        for (const cell of changed ?? []) client.set(cell.name, cell);
        for (const name of delta?.removedNodes ?? []) client.delete(name);
        ({ version } = board);
      };
      for (const { name, pods, act } of steps) {
        if (act === 'set') board.set(aCell(name, pods));
        if (act === 'remove') board.remove(name);
        if (act === 'publish') board.publish();
        if (act === 'read') read();
      }
      board.publish();
      read();
      const wanted = board.names().map((name) => [name, board.node(name)] as const);
      assert.deepEqual(Object.fromEntries(client), Object.fromEntries(wanted));
    }),
  );
});
