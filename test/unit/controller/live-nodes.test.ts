import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type ApiErrorInit } from '../../../src/machinery/api/api-error.ts';
import type { KubeObject, Status } from '../../../src/machinery/api/meta.ts';
import type { KubeReader } from '../../../src/machinery/ports/kube-reader.ts';
import { LiveNodes } from '../../../src/controller/live-nodes.ts';
import type { LiveNode } from '../../../src/controller/model/live-node.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

interface Stand {
  readonly live: LiveNodes;
  readonly clock: ManualClock;
  /** The uid of each node that was read. */
  readonly read: string[];
  readonly faults: string[];
  readonly stop: AbortController;
}

function aStand(get: KubeReader['get']): Stand {
  const clock = new ManualClock();
  const faults: string[] = [];
  const read: string[] = [];
  const stop = new AbortController();
  const live = new LiveNodes({
    api: { get },
    clock,
    signal: stop.signal,
    onRead: ({ uid }) => read.push(uid),
    onFault: (node) => faults.push(node),
  });
  return { live, clock, read, faults, stop };
}

function answerOf(get: KubeReader['get']): Promise<LiveNode> {
  return aStand(get).live.read('n1');
}

function refused(init: ApiErrorInit): Promise<LiveNode> {
  return answerOf(() => Promise.reject(new ApiError(init)));
}

test('a node is read live and by name', async () => {
  const asked: unknown[] = [];
  const live = await answerOf((resource, name) => {
    asked.push([resource, name]);
    return Promise.resolve({ metadata: { name: 'n1', uid: 'u' } });
  });
  assert.ok(typeof live === 'object' && live.uid === 'u');
  assert.deepEqual(asked, [['nodes', { name: 'n1' }]]);
});

test('what was read is announced once, and no failure is', async () => {
  const { live, read } = aStand(() => Promise.resolve({ metadata: { name: 'n1', uid: 'u' } }));
  await Promise.all([live.read('n1'), live.read('n1')]);
  live.latest('n1');
  assert.deepEqual(read, ['u']);
  const failing = aStand(() => Promise.reject(new ApiError({ reason: 'timeout', message: 'timeout' })));
  await failing.live.read('n1');
  assert.deepEqual(failing.read, []);
});

test('a defect in what follows from a read is reported, and the node counts as unreadable', async () => {
  const clock = new ManualClock();
  const faults: string[] = [];
  const live = new LiveNodes({
    api: { get: () => Promise.resolve({ metadata: { name: 'n1', uid: 'u' } }) },
    clock,
    signal: new AbortController().signal,
    onRead: () => {
      throw new TypeError('planted');
    },
    onFault: (node) => faults.push(node),
  });
  assert.equal(await live.read('n1'), 'unreadable');
  assert.deepEqual(faults, ['n1']);
});

test('a node is gone only if the Status of the API server names it', async () => {
  const status = (name: string, kind = 'nodes'): Status => ({
    kind: 'Status',
    reason: 'NotFound',
    details: { name, kind },
  });
  const notFound = { reason: 'not-found', message: 'nodes "n1" not found', code: 404 } as const;
  assert.equal(await refused({ ...notFound, status: status('n1') }), 'gone');
  assert.equal(await refused({ ...notFound, status: status('n2') }), 'unreadable');
  assert.equal(await refused({ ...notFound, status: status('n1', 'secrets') }), 'unreadable', 'another kind');
  assert.equal(await refused(notFound), 'unreadable', 'a 404 of a proxy');
});

test('no response is no evidence', async () => {
  for (const reason of ['timeout', 'unavailable', 'aborted'] as const)
    assert.equal(await refused({ reason, message: reason }), 'unreadable');
  for (const reason of ['forbidden', 'unauthorized'] as const)
    assert.equal(await refused({ reason, message: reason }), 'not-permitted');
});

test('a read that never ends is unreadable after ten seconds, or as soon as the process stops', async () => {
  const { live, clock, stop } = aStand(() => new Promise(() => undefined));
  const slow = live.read('n1');
  await clock.advance(10_000);
  assert.equal(await slow, 'unreadable');
  const stopped = live.read('n2');
  stop.abort();
  assert.equal(await stopped, 'unreadable');
});

test('a node is read once for all its pods, a few nodes at a time, and a result is kept for ten seconds', async () => {
  const reads: string[] = [];
  const answers: (() => void)[] = [];
  const { live, clock, faults } = aStand((_resource, { name }) => {
    reads.push(name);
    if (name === 'broken') return Promise.reject(new TypeError('broken'));
    return new Promise<KubeObject>((resolve) => answers.push(() => resolve({ metadata: { name, uid: 'u' } })));
  });
  const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
  for (const name of [...names, ...names]) assert.equal(live.latest(name), undefined);
  assert.equal(reads.length, 8);
  const shared = live.read('n0');
  assert.equal(reads.length, 8, 'a read in flight is shared');
  for (const answer of answers.splice(0)) answer();
  assert.ok(typeof (await shared) === 'object');
  assert.equal(typeof live.latest('n0'), 'object');
  assert.equal(typeof (await live.read('n0')), 'object');
  assert.equal(reads.length, 8);
  await clock.advance(10_000);
  assert.equal(live.latest('n0'), undefined);
  assert.equal(live.latest('broken'), undefined);
  await settled();
  assert.deepEqual([live.latest('broken'), faults], ['unreadable', ['broken']]);
});

test('a read in flight that was sent before does not answer, and is followed by one other for all that wait', async () => {
  const answers: (() => void)[] = [];
  const { live, clock } = aStand(
    () =>
      new Promise((resolve) => answers.push(() => resolve({ metadata: { name: 'n1', uid: `u${answers.length}` } }))),
  );
  const uidOf = (node: LiveNode): string => (typeof node === 'object' ? node.uid : node);
  const before = live.read('n1');
  await clock.advance(1_000);
  const since = [1, 2].map(() => live.read('n1', clock.monotonicMs()));
  answers[0]?.();
  assert.equal(uidOf(await before), 'u1');
  await settled();
  assert.equal(answers.length, 2);
  answers[1]?.();
  assert.deepEqual((await Promise.all(since)).map(uidOf), ['u2', 'u2']);
  assert.equal(uidOf(await live.read('n1', 1_000)), 'u2');
  assert.equal(answers.length, 2);
});
