import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeChanges } from '../../../../src/dashboard/nodes/build-change-summary.ts';
import { DashboardStore } from '../../../../src/dashboard/stream/store.ts';
import { clusterOf, nodeCell, snapshotOf } from '../../../support/dashboard-snapshots.ts';

const snapshot = snapshotOf({ nodes: [nodeCell('n10'), nodeCell('n2')] });

function storeOf(): DashboardStore {
  const store = new DashboardStore();
  store.received({ event: 'snapshot', data: JSON.stringify(snapshot) });
  return store;
}

function receiveDelta(store: DashboardStore, delta: object): void {
  store.received({ event: 'delta', data: JSON.stringify(delta) });
}

test('a snapshot makes the page live, with nodes in their order', () => {
  const store = new DashboardStore();
  assert.deepEqual([store.connection.kind, store.receivedAtMs], ['connecting', 0]);
  let notified = 0;
  const unsubscribe = store.subscribe(() => (notified += 1));
  store.received({ event: 'snapshot', data: JSON.stringify(snapshot) });
  unsubscribe();
  receiveDelta(store, {});
  assert.deepEqual([store.connection.kind, notified, store.order], ['live', 1, ['n2', 'n10']]);
});

test('a delta before a snapshot and an unknown event change nothing', () => {
  const store = new DashboardStore();
  receiveDelta(store, { nodes: [nodeCell('n1')] });
  store.received({ event: 'other', data: 'no JSON' });
  assert.deepEqual([store.state, store.connection.kind], [undefined, 'connecting']);
});

test('the order is computed again when nodes come and go, and only then', () => {
  const store = storeOf();
  const { order } = store;
  receiveDelta(store, { nodes: [nodeCell('n2', { state: 'tainted' })] });
  assert.equal(store.order, order);
  receiveDelta(store, { nodes: [nodeCell('n1')], removedNodes: ['n10'] });
  assert.deepEqual(store.order, ['n1', 'n2']);
});

test('changes are handed out once; the first snapshot is none, later ones are', () => {
  const store = storeOf();
  assert.equal(describeChanges(store.takeChanges()), '');
  receiveDelta(store, { nodes: [nodeCell('n2', { state: 'unreachable' })] });
  store.received({ event: 'snapshot', data: JSON.stringify(snapshotOf({ nodes: [nodeCell('n2')] })) });
  assert.equal(describeChanges(store.takeChanges()), '1 node now ready, 1 node now unreachable, 1 node removed.');
  assert.equal(describeChanges(store.takeChanges()), '');
});

test('a lost stream keeps what is shown, and the time at which it was lost first', () => {
  const store = storeOf();
  store.lost({ status: 0, message: '' }, 500);
  assert.ok(store.connection.kind === 'reconnecting');
  const { sinceMs } = store.connection;
  store.lost({ status: 503, message: 'full' }, 7_000);
  assert.ok(store.connection.kind === 'reconnecting');
  assert.deepEqual([store.connection.sinceMs, store.connection.problem.status], [sinceMs, 503]);
  assert.equal(store.state?.nodes.size, 2);
  receiveDelta(store, {});
  assert.equal(store.connection.kind, 'live');
});

test('countdowns run by the clock of the server', () => {
  const store = storeOf();
  const atMs = Date.parse(snapshot.cluster.at);
  assert.ok(Math.abs(store.nowMs() - atMs) < 5_000);
  receiveDelta(store, { cluster: clusterOf({ at: new Date(atMs + 60_000).toISOString() }) });
  assert.ok(Math.abs(store.nowMs() - atMs - 60_000) < 5_000);
  receiveDelta(store, { cluster: clusterOf({ at: 'soon' }) });
  assert.ok(Math.abs(store.nowMs() - atMs - 60_000) < 5_000, 'an unreadable time changes nothing');
});

test('the header of the answer is a time of the server', () => {
  const store = new DashboardStore();
  store.opened(new Date(Date.now() + 3_600_000).toUTCString());
  assert.ok(Math.abs(store.nowMs() - Date.now() - 3_600_000) < 2_000);
});
