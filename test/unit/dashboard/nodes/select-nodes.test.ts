import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildTally,
  isFiltering,
  selectOrder,
  selectPage,
  selectPlaced,
  selectPolicies,
  selectSorted,
  selectStates,
  selectZones,
} from '../../../../src/dashboard/nodes/select-nodes.ts';
import type { NodeCell } from '../../../../src/dashboard/protocol.ts';
import { nodeCell } from '../../../support/dashboard-snapshots.ts';

const cells = [
  nodeCell('n10', { policy: 'batch', state: 'tainted', pods: 1, next: { what: 'x', at: '2026-11-24T12:00:09Z' } }),
  nodeCell('n2', { zone: 'b', since: '2026-11-24T11:00:00Z', held: 'paused' }),
  nodeCell('n9', { state: 'unreachable', pods: 7, next: { what: 'x', at: '2026-11-24T12:00:05Z' } }),
];
const nodes = new Map(cells.map((cell) => [cell.name, cell]));
const order = selectOrder(nodes);
const everything = { zone: null, policy: null, states: [], name: '' } as const;
const names = (list: readonly NodeCell[]): readonly string[] => list.map(({ name }) => name);

test('nodes are in the order of their zones, then of their names with numbers by value', () => {
  assert.deepEqual(order, ['n9', 'n10', 'n2']);
});

test('zone, policy and a part of the name select nodes', () => {
  const select = (change: object): readonly string[] => names(selectPlaced(nodes, order, { ...everything, ...change }));
  assert.deepEqual(select({}), ['n9', 'n10', 'n2']);
  assert.deepEqual(select({ zone: 'b' }), ['n2']);
  assert.deepEqual(select({ policy: 'batch' }), ['n10']);
  assert.deepEqual(select({ policy: '' }), ['n9', 'n2']);
  assert.deepEqual(select({ name: 'N1' }), ['n10']);
  assert.deepEqual(select({ states: ['paused'] }), ['n9', 'n10', 'n2']);
});

test('a name in the order that is no longer a node is left out', () => {
  assert.deepEqual(names(selectPlaced(nodes, ['gone', 'n2'], everything)), ['n2']);
});

test('states select nodes, none selects all', () => {
  assert.deepEqual(names(selectStates(cells, ['tainted', 'ready'])), ['n10', 'n2']);
  assert.equal(selectStates(cells, []), cells);
});

test('the tally has all states', () => {
  const tally = buildTally(cells);
  assert.deepEqual([tally.ready, tally.tainted, tally.unreachable, tally.paused], [1, 1, 1, 0]);
});

test('each column sorts in both directions; what is unknown is last', () => {
  const sorted = (key: Parameters<typeof selectSorted>[1]): string => names(selectSorted(cells, key, false)).join(' ');
  assert.equal(sorted('name'), 'n2 n9 n10');
  assert.equal(sorted('zone'), 'n10 n9 n2');
  assert.equal(sorted('policy'), 'n2 n9 n10');
  assert.equal(sorted('state'), 'n2 n9 n10');
  assert.equal(sorted('since'), 'n2 n10 n9');
  assert.equal(sorted('pods'), 'n10 n2 n9');
  assert.equal(sorted('held'), 'n2 n10 n9');
  assert.equal(sorted('next'), 'n9 n10 n2');
  assert.deepEqual(names(selectSorted(cells, 'pods', true)), ['n9', 'n2', 'n10']);
});

test('pages have so many rows; a page that does not exist is the last one', () => {
  const all = [1, 2, 3, 4, 5];
  assert.deepEqual(selectPage(all, 2, 2), { rows: [3, 4], page: 2, pages: 3, first: 2 });
  assert.deepEqual(selectPage(all, 9, 2), { rows: [5], page: 3, pages: 3, first: 4 });
  assert.deepEqual(selectPage([], 1, 2), { rows: [], page: 1, pages: 1, first: 0 });
});

test('offered are the zones and policies that nodes have', () => {
  assert.deepEqual(
    [selectZones(nodes), selectPolicies(nodes)],
    [
      ['a', 'b'],
      ['', 'batch'],
    ],
  );
});

test('any part of the filter filters', () => {
  assert.equal(isFiltering(everything), false);
  for (const change of [{ zone: 'a' }, { policy: '' }, { states: ['ready'] as const }, { name: 'x' }])
    assert.equal(isFiltering({ ...everything, ...change }), true);
});
