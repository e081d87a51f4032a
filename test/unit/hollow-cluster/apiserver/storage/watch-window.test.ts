import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreChange } from '../../../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import { StoredObject } from '../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { WatchWindow } from '../../../../../src/hollow-cluster/apiserver/storage/watch-window.ts';

function change(revision: number, atMs: number): StoreChange {
  const located = { key: 'a', namespace: '', name: 'a', uid: 'u', revision, labels: {}, fields: {} };
  const object = new StoredObject(located, { metadata: {} });
  return { kind: 'modified', revision, object, previous: object, atMs };
}

const revisionsSince = (window: WatchWindow, revision: number): readonly number[] | undefined =>
  window.since(revision)?.map((each) => each.revision);

test('until changes are dropped, a watch can start at the first revision', () => {
  const window = new WatchWindow(10, { eventsMin: 4, eventsMax: 4 });
  for (const revision of [12, 15]) window.append(change(revision, 0));
  assert.deepEqual(revisionsSince(window, 10), [12, 15]);
  assert.deepEqual(revisionsSince(window, 12), [15]);
  assert.deepEqual(revisionsSince(window, 15), []);
  assert.equal(revisionsSince(window, 9), undefined);
});

test('a full window drops its oldest changes', () => {
  const window = new WatchWindow(0, { eventsMin: 3, eventsMax: 3 });
  for (let revision = 1; revision <= 10; revision += 1) window.append(change(revision, 0));
  assert.equal(window.length, 3);
  assert.deepEqual(revisionsSince(window, 7), [8, 9, 10]);
  assert.equal(revisionsSince(window, 6), undefined);
});

test('the window grows with fresh changes and shrinks with stale ones', () => {
  const window = new WatchWindow(0, { eventsMin: 4, eventsMax: 16 });
  for (let revision = 1; revision <= 16; revision += 1) window.append(change(revision, 0));
  assert.equal(window.length, 16);
  for (let revision = 17; revision <= 20; revision += 1) window.append(change(revision, 100_000));
  assert.ok(window.length <= 8, `${window.length} are kept`);
  assert.deepEqual(revisionsSince(window, 19), [20]);
});

test('clear drops all changes up to the revision', () => {
  const window = new WatchWindow(0);
  window.append(change(5, 0));
  window.clear(7);
  assert.equal(revisionsSince(window, 6), undefined);
  assert.deepEqual(revisionsSince(window, 7), []);
});
