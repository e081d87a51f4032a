import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaintAdditions } from '../../../../src/controller/model/taint-additions.ts';

test('a node counts while its write is in flight, and without an answer for a bounded time', () => {
  let nowMs = 0;
  const additions = new TaintAdditions({ monotonicMs: () => nowMs });
  const nodes = (): readonly string[] => [...additions.current().keys()];
  for (const node of ['a', 'b', 'c']) additions.begin(node);
  additions.end('a', 'not-done');
  additions.end('b', 'unanswered');
  additions.end('never-begun', 'unanswered');
  assert.deepEqual(nodes(), ['b', 'c']);
  nowMs = 59_999;
  assert.deepEqual(nodes(), ['b', 'c']);
  nowMs = 60_000;
  assert.deepEqual(nodes(), ['c'], 'in flight');
});

test('a later write that was not done does not make an earlier one undone; one that was done ends it', () => {
  let nowMs = 0;
  const additions = new TaintAdditions({ monotonicMs: () => nowMs });
  for (const node of ['a', 'b']) {
    additions.begin(node);
    additions.end(node, 'unanswered');
  }
  nowMs = 10_000;
  for (const node of ['a', 'b']) additions.begin(node);
  additions.end('a', 'not-done');
  additions.end('b', 'done');
  assert.deepEqual([...additions.current().keys()], ['a']);
  nowMs = 60_000;
  assert.deepEqual([...additions.current().keys()], []);
});

test('nothing is kept of nodes that no longer count, also if no caller asks', () => {
  let nowMs = 0;
  const additions = new TaintAdditions({ monotonicMs: () => nowMs });
  const kept = additions.current();
  for (const [place, how] of (['not-done', 'unanswered', 'done', 'not-done'] as const).entries()) {
    additions.begin(`node-${place}`);
    additions.end(`node-${place}`, how);
    nowMs += 60_000;
  }
  assert.equal(kept.size, 0);
});

test('a node counts until the last of its writes has ended', () => {
  const additions = new TaintAdditions({ monotonicMs: () => 0 });
  additions.begin('a');
  additions.begin('a');
  additions.end('a', 'not-done');
  assert.deepEqual([...additions.current().keys()], ['a']);
  additions.end('a', 'not-done');
  assert.deepEqual([...additions.current().keys()], []);
});
