import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListFallback } from '../../../../src/controller/freshness/list-fallback.ts';
import type { InformerStatus } from '../../../../src/machinery/informer/informer.ts';

const delayed = { mayRequest: true, isBehind: false };
const behind = { mayRequest: true, isBehind: true };

class Stream {
  lists = 0;
  shown: Partial<InformerStatus> = {};

  relist(): void {
    this.lists += 1;
  }

  status(): InformerStatus {
    const idle = { lastFrameAtMs: undefined, lastListAtMs: undefined, lastError: undefined };
    return { state: 'backing-off', synced: true, consecutiveFailures: 0, resourceVersion: '1', ...idle, ...this.shown };
  }
}

test('a list proves what was stored when it was sent, also if it was requested again meanwhile', () => {
  const stream = new Stream();
  const fallback = new ListFallback([stream]);
  for (const nowMs of [0, 10_000, 20_000]) assert.equal(fallback.poll(nowMs, delayed), undefined);
  stream.shown = { lastListAtMs: 25_000, lastListSentAtMs: 50 };
  assert.equal(fallback.poll(25_000, delayed), 50);
});

test('a list that may be older than its request proves nothing', () => {
  const stream = new Stream();
  const fallback = new ListFallback([stream]);
  fallback.poll(0, delayed);
  stream.shown = { lastListAtMs: 1_000, lastListSentAtMs: undefined };
  assert.equal(fallback.poll(2_000, delayed), undefined);
});

test('a watch that delivers is evidence up to its last frame, and stays open', () => {
  const stream = new Stream();
  const fallback = new ListFallback([stream]);
  stream.shown = { state: 'watching', stateSinceMs: 0, lastFrameAtMs: 19_000 };
  assert.equal(fallback.poll(20_000, delayed), undefined, 'no frame since the request');
  stream.shown = { ...stream.shown, lastFrameAtMs: 21_000 };
  assert.equal(fallback.poll(22_000, delayed), 21_000);
  assert.equal(stream.lists, 0);
  fallback.poll(32_000, delayed);
  assert.equal(stream.lists, 1, 'it has been quiet for ten seconds');
});

test('a watch that was just opened delivers what is old: it stays open for a moment, and is no evidence', () => {
  const stream = new Stream();
  const fallback = new ListFallback([stream]);
  stream.shown = { state: 'watching', stateSinceMs: 19_000, lastFrameAtMs: 19_500 };
  fallback.poll(20_000, delayed);
  stream.shown = { ...stream.shown, lastFrameAtMs: 29_500 };
  assert.equal(fallback.poll(30_000, delayed), undefined);
  assert.equal(stream.lists, 0);
  stream.shown = { ...stream.shown, lastFrameAtMs: 30_500 };
  assert.equal(fallback.poll(31_000, delayed), 30_500);
});

test('a watch that is closed and opened again in turn is replaced by lists', () => {
  const stream = new Stream();
  const fallback = new ListFallback([stream]);
  for (const nowMs of [10_000, 20_000, 30_000, 40_000]) {
    stream.shown = { state: 'watching', stateSinceMs: nowMs - 5_000, lastFrameAtMs: nowMs };
    fallback.poll(nowMs, delayed);
  }
  assert.equal(stream.lists, 2);
});

test('a watch that is behind is no evidence', () => {
  const stream = new Stream();
  const fallback = new ListFallback([stream]);
  stream.shown = { state: 'watching', stateSinceMs: 0, lastFrameAtMs: 20_000 };
  fallback.poll(20_000, behind);
  stream.shown = { ...stream.shown, lastFrameAtMs: 21_000 };
  assert.equal(fallback.poll(22_000, behind), undefined);
  assert.equal(stream.lists, 1);
});

test('a watch that is being opened is waited for from its request on, and watches that are opened in turn for a minute', () => {
  const [first, second] = [new Stream(), new Stream()];
  const fallback = new ListFallback([first, second]);
  fallback.poll(0, delayed);
  first.shown = { state: 'opening', stateSinceMs: 9_000 };
  for (let nowMs = 10_000; nowMs < 37_000; nowMs += 1_000) fallback.poll(nowMs, delayed);
  assert.equal(first.lists, 1);
  second.shown = { state: 'opening', stateSinceMs: 36_000 };
  fallback.poll(38_000, delayed);
  assert.equal(first.lists, 1);
  fallback.poll(60_000, delayed);
  assert.deepEqual([first.lists, second.lists], [2, 2]);
});
