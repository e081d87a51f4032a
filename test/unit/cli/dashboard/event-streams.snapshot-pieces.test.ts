import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snapshotPieces } from '../../../../src/cli/dashboard/event-streams.ts';
import { DashboardBoard } from '../../../../src/dashboard/server/dashboard-board.ts';
import type { Cluster, NodeCell } from '../../../../src/dashboard/protocol.ts';
import { DashboardMirror } from '../../../support/dashboard-mirror.ts';
import { aServer } from '../../../support/dashboard-world.ts';

const aCell = (name: string): NodeCell => ({
  name,
  zone: 'r/a',
  policy: null,
  state: 'ready',
  since: '2026-01-02T03:04:05Z',
  pods: 0,
  held: null,
  next: null,
});

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its presence matters
const aCluster = { at: '2026-01-02T03:04:05Z' } as Cluster;

function aBoard(names: readonly string[]): DashboardBoard {
  const board = new DashboardBoard({ server: aServer });
  board.setCluster(aCluster);
  for (const name of names) board.set(aCell(name));
  board.publish();
  return board;
}

for (const size of [0, 1, 200, 201, 999]) {
  test(`${size} nodes are one snapshot, whatever its pieces`, () => {
    const names = Array.from({ length: size }, (_, i) => `n${i}`);
    const mirror = new DashboardMirror();
    for (const piece of snapshotPieces(aBoard(names))) mirror.feed(piece);
    assert.deepEqual([mirror.snapshots, [...mirror.nodes.keys()]], [1, names]);
  });
}

test('nodes that are removed between two pieces, also all of the next piece, leave valid JSON', () => {
  const names = Array.from({ length: 600 }, (_, i) => `n${i}`);
  const board = aBoard(names);
  const mirror = new DashboardMirror();
  let count = 0;
  for (const piece of snapshotPieces(board)) {
    mirror.feed(piece);
    if (count === 0) for (const name of names.slice(0, 200)) board.remove(name);
    count += 1;
  }
  assert.deepEqual([mirror.snapshots, mirror.nodes.size], [1, 400]);
});
