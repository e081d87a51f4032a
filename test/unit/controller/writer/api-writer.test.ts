import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { KubeObject } from '../../../../src/machinery/api/meta.ts';
import { type PodView, transformPod } from '../../../../src/machinery/api/pod.ts';
import { type NodeView, transformNode } from '../../../../src/machinery/api/node.ts';
import { PQueueLanes } from '../../../../src/machinery/adapters/p-queue-lanes.ts';
import type { WriteOutcome } from '../../../../src/controller/model/commands.ts';
import { ApiWriter } from '../../../../src/controller/writer/api-writer.ts';
import { MutationCache } from '../../../../src/machinery/informer/mutation-cache.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { noPodAnswers } from '../../../support/no-pod-answers.ts';

/** A writer with one lane, on an API that responds on request. */
class Stand {
  readonly sent: string[] = [];
  readonly answers: (() => void)[] = [];
  leading = true;
  readonly writer = new ApiWriter({
    pods: noPodAnswers(),
    api: {
      get: () => assert.fail('nothing is read'),
      patch: () => assert.fail('nothing is patched'),
      delete: (_resource, { name }) => {
        this.sent.push(name);
        return new Promise((resolve) => this.answers.push(resolve));
      },
      evict: () => assert.fail('nothing is evicted'),
    },
    lanes: new PQueueLanes({ concurrencyMax: 1 }),
    leadership: { holds: () => this.leading },
    nodes: new MutationCache<NodeView>(() => undefined),
    decisions: { note: () => undefined },
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });

  async remove(name: string): Promise<string> {
    return (await this.writer.carryOut({ kind: 'delete-pod', pod: aPod(name) }, () => true)).result;
  }

  async answer(): Promise<void> {
    this.answers.shift()?.();
    await settled();
  }
}

function aPod(name: string): PodView {
  return transformPod({ metadata: { name, namespace: 'd', uid: `uid-${name}` } });
}

test('leadership is checked when a write is sent, not when it is requested', async () => {
  const stand = new Stand();
  const [first, second] = [stand.remove('a'), stand.remove('b')];
  await settled();
  stand.leading = false;
  await stand.answer();
  assert.deepEqual([await first, await second], ['written', 'failed']);
  assert.deepEqual(stand.sent, ['a']);
});

test('a write rejected for missing leadership is to be retried: leadership may only be paused', async () => {
  const stand = new Stand();
  stand.leading = false;
  assert.equal(await stand.remove('a'), 'failed');
  stand.leading = true;
  const again = stand.remove('a');
  await settled();
  await stand.answer();
  assert.equal(await again, 'written');
  assert.deepEqual(stand.sent, ['a']);
});

test('a closed writer waits for requests in flight and sends nothing more', async () => {
  const stand = new Stand();
  const [first, second] = [stand.remove('a'), stand.remove('b')];
  await settled();
  stand.writer.close();
  let drained = false;
  const done = stand.writer.drained().then(() => {
    drained = true;
  });
  await settled();
  assert.equal(drained, false);
  await stand.answer();
  await done;
  assert.deepEqual([await first, await second, await stand.remove('c')], ['written', 'not-leader', 'not-leader']);
  assert.deepEqual(stand.sent, ['a']);
});

test('a write whose reason has ended while it waited for a slot is not sent', async () => {
  const stand = new Stand();
  const first = stand.remove('a');
  let wanted = true;
  const second = stand.writer.carryOut({ kind: 'delete-pod', pod: aPod('b') }, () => wanted);
  await settled();
  wanted = false;
  await stand.answer();
  assert.equal((await second).result, 'unwanted');
  assert.equal(await first, 'written');
  assert.deepEqual(stand.sent, ['a']);
});

for (const { when, isSent, expected } of [
  { when: 'in flight', isSent: true, expected: { result: 'failed', reason: 'aborted', retryAfterMs: undefined } },
  { when: 'still waiting for the rate limit', isSent: false, expected: { result: 'unwanted' } },
])
  test(`a request that is given up while it is ${when}: ${expected.result}`, async () => {
    const never = new AbortController();
    const giveUp = new AbortController();
    const writer = new ApiWriter({
      pods: noPodAnswers(),
      api: {
        get: () => assert.fail('nothing is read'),
        patch: () => assert.fail('nothing is patched'),
        delete: () => assert.fail('nothing is deleted'),
        evict: (_pod, { signal, stillWanted }) => {
          if (isSent) assert.equal(stillWanted?.(), true);
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new ApiError({ reason: 'aborted', message: 'aborted' })));
          });
        },
      },
      lanes: new PQueueLanes({ concurrencyMax: 1 }),
      leadership: { holds: () => true },
      nodes: new MutationCache<NodeView>(() => undefined),
      decisions: { note: () => undefined },
      clock: new ManualClock(),
      signal: never.signal,
    });
    const command = { kind: 'evict-pod', pod: aPod('a'), forHealth: true } as const;
    const writing = writer.carryOut(command, () => true, giveUp.signal);
    await settled();
    giveUp.abort();
    assert.deepEqual(await writing, expected);
    await writer.drained();
  });

for (const error of ['not-found', 'conflict'] as const)
  test(`an eviction that is given up while a read is to confirm its ${error} ends at once, and its result is unknown`, async () => {
    const giveUp = new AbortController();
    const writer = new ApiWriter({
      pods: noPodAnswers(),
      api: {
        get: (_resource, _name, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new ApiError({ reason: 'aborted', message: 'aborted' })));
          }),
        patch: () => assert.fail('nothing is patched'),
        delete: () => assert.fail('nothing is deleted'),
        evict: async (_pod, { stillWanted }) => {
          assert.equal(stillWanted?.(), true);
          throw new ApiError({ reason: error, message: 'no backend' });
        },
      },
      lanes: new PQueueLanes({ concurrencyMax: 1 }),
      leadership: { holds: () => true },
      nodes: new MutationCache<NodeView>(() => undefined),
      decisions: { note: () => undefined },
      clock: new ManualClock(),
      signal: new AbortController().signal,
    });
    const command = { kind: 'evict-pod', pod: aPod('a'), forHealth: true } as const;
    let outcome: WriteOutcome | undefined;
    const writing = writer
      .carryOut(command, () => true, giveUp.signal)
      .then((result) => {
        outcome = result;
      });
    await settled();
    giveUp.abort();
    await settled();
    assert.deepEqual(outcome, { result: 'failed', reason: 'aborted', retryAfterMs: undefined });
    await Promise.all([writing, writer.drained()]);
  });

/** A writer onto an API that refuses every patch, deletion and eviction with the same error, and reads as it is given. */
async function refusedWith(
  error: ApiError,
  read: () => Promise<KubeObject>,
  kind: 'delete-pod' | 'evict-pod' = 'delete-pod',
): Promise<WriteOutcome> {
  const refuse = async (): Promise<never> => {
    throw error;
  };
  const writer = new ApiWriter({
    api: { get: read, patch: refuse, delete: refuse, evict: refuse },
    lanes: new PQueueLanes({ concurrencyMax: 1 }),
    leadership: { holds: () => true },
    nodes: new MutationCache<NodeView>(() => undefined),
    pods: noPodAnswers(),
    decisions: { note: () => undefined },
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });
  const pod = aPod('a');
  return writer.carryOut(kind === 'delete-pod' ? { kind, pod } : { kind, pod, forHealth: true }, () => true);
}

const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' } as const;
const plain404 = new ApiError({ reason: 'not-found', message: 'no backend', code: 404 });
const webhook409 = new ApiError({ reason: 'conflict', message: 'denied by a webhook', code: 409 });
const missing = new ApiError({
  reason: 'not-found',
  message: 'pods "a" not found',
  code: 404,
  status: { kind: 'Status', reason: 'NotFound', details: { name: 'a', kind: 'pods' } },
});
const stored = (uid: string): KubeObject => ({ metadata: { namespace: 'd', name: 'a', uid, resourceVersion: '9' } });

for (const { title, error, read, result } of [
  { title: 'a 404 from a proxy', error: plain404, read: stored('uid-a'), result: 'failed' },
  {
    title: 'a 404 that names the object, while a read finds it',
    error: missing,
    read: stored('uid-a'),
    result: 'failed',
  },
  { title: 'a 404 that no read can confirm', error: missing, read: plain404, result: 'failed' },
  { title: 'a 404 that a read confirms', error: missing, read: missing, result: 'gone' },
  { title: 'a 409 from a webhook', error: webhook409, read: stored('uid-a'), result: 'failed' },
  { title: 'a 409 because the name has another uid', error: webhook409, read: stored('other'), result: 'gone' },
]) {
  test(`${title}: ${result}`, async () => {
    const outcome = await refusedWith(error, () =>
      read instanceof ApiError ? Promise.reject(read) : Promise.resolve(read),
    );
    assert.equal(outcome.result, result);
  });
}

const budget: ApiError = new ApiError({
  reason: 'too-many-requests',
  message: 'Cannot evict pod',
  code: 429,
  retryAfterMs: 10_000,
  status: { details: { causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 2' }] } },
});
const tooManyPending = {
  details: {
    causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web has too many pending evictions' }],
  },
};
const eviction404 = new ApiError({ reason: 'not-found', message: 'the server could not find the resource', code: 404 });

for (const { title, error, read, result } of [
  {
    title: 'a 429 of a budget',
    error: budget,
    read: plain404,
    result: { result: 'refused', why: 'budget', message: 'The disruption budget web needs 2', retryAfterMs: 10_000 },
  },
  {
    title: 'a 403 of a budget, as since Kubernetes 1.37',
    error: new ApiError({ reason: 'forbidden', message: 'is forbidden', code: 403, status: tooManyPending }),
    read: plain404,
    result: {
      result: 'refused',
      why: 'budget',
      message: 'The disruption budget web has too many pending evictions',
      retryAfterMs: undefined,
    },
  },
  {
    title: 'a 429 of an overloaded API server',
    error: new ApiError({ reason: 'too-many-requests', message: 'slow down', code: 429, retryAfterMs: 1_000 }),
    read: plain404,
    result: { result: 'failed', reason: 'too-many-requests', retryAfterMs: 1_000 },
  },
  {
    title: 'a 403',
    error: new ApiError({ reason: 'forbidden', message: 'cannot create resource "pods/eviction"', code: 403 }),
    read: plain404,
    result: {
      result: 'refused',
      why: 'forbidden',
      message: 'cannot create resource "pods/eviction"',
      retryAfterMs: undefined,
    },
  },
  {
    title: 'a 404 of the subresource, of a pod that exists',
    error: eviction404,
    read: stored('uid-a'),
    result: { result: 'refused', why: 'not-served', message: eviction404.message, retryAfterMs: undefined },
  },
  { title: 'a 404 of a pod that is gone', error: missing, read: missing, result: { result: 'gone' } },
  {
    title: 'a 500 for several budgets',
    error: new ApiError({ reason: 'internal', message: 'This pod has more than one PodDisruptionBudget', code: 500 }),
    read: plain404,
    result: {
      result: 'refused',
      why: 'internal',
      message: 'This pod has more than one PodDisruptionBudget',
      retryAfterMs: undefined,
    },
  },
  {
    title: 'no answer',
    error: new ApiError({ reason: 'timeout', message: 'no answer' }),
    read: plain404,
    result: { result: 'failed', reason: 'timeout', retryAfterMs: undefined },
  },
]) {
  test(`eviction, ${title}: ${result.result}`, async () => {
    const answer = (): Promise<KubeObject> => (read instanceof ApiError ? Promise.reject(read) : Promise.resolve(read));
    assert.deepEqual(await refusedWith(error, answer, 'evict-pod'), result);
  });
}

test('a node that a refused write made be read is reported, as its state is in use before its event', async () => {
  const node = transformNode({ metadata: { name: 'n1', uid: 'u', resourceVersion: '5' } });
  const nodes = new MutationCache<NodeView>(() => node);
  const reported: (string | undefined)[] = [];
  const writer = new ApiWriter({
    api: {
      get: () => Promise.resolve({ metadata: { name: 'n1', uid: 'u', resourceVersion: '9' } }),
      patch: () => Promise.reject(webhook409),
      delete: () => assert.fail('nothing is deleted'),
      evict: () => assert.fail('nothing is evicted'),
    },
    lanes: new PQueueLanes({ concurrencyMax: 1 }),
    leadership: { holds: () => true },
    nodes,
    pods: noPodAnswers(),
    decisions: { note: () => undefined },
    onNodeRead: (name) => reported.push(nodes.get(name)?.resourceVersion),
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });
  await writer.carryOut({ kind: 'change-taints', node, add: [taint], remove: [], lane: 'detection' }, () => true);
  assert.deepEqual(reported, ['9']);
});

test('a node of the same name with another uid, which a refused write shows, is not used before its event', async () => {
  const old = transformNode({ metadata: { name: 'n1', uid: 'old', resourceVersion: '5' } });
  const created = { metadata: { name: 'n1', uid: 'new', resourceVersion: '9' } };
  const nodes = new MutationCache<NodeView>(() => old);
  const writer = new ApiWriter({
    api: {
      get: () => Promise.resolve(created),
      patch: () => Promise.reject(webhook409),
      delete: () => assert.fail('nothing is deleted'),
      evict: () => assert.fail('nothing is evicted'),
    },
    lanes: new PQueueLanes({ concurrencyMax: 1 }),
    leadership: { holds: () => true },
    nodes,
    pods: noPodAnswers(),
    decisions: { note: () => undefined },
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });
  const command = { kind: 'change-taints', node: old, add: [taint], remove: [], lane: 'detection' } as const;
  assert.equal((await writer.carryOut(command, () => true)).result, 'gone');
  assert.equal(nodes.get('n1')?.uid, 'old');
});

test('a taint that an earlier write has added meanwhile is not written again with a later time', async () => {
  const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' } as const;
  const metadata = { name: 'n1', uid: 'u' };
  const evaluated = transformNode({ metadata: { ...metadata, resourceVersion: '5' } });
  const taints = [{ ...unreachable, timeAdded: '2026-01-02T03:00:00Z' }];
  const newest = transformNode({ metadata: { ...metadata, resourceVersion: '6' }, spec: { taints } });
  const writer = new ApiWriter({
    api: {
      get: () => assert.fail('nothing is read'),
      patch: () => assert.fail('nothing is patched'),
      delete: () => assert.fail('nothing is deleted'),
      evict: () => assert.fail('nothing is evicted'),
    },
    lanes: new PQueueLanes({ concurrencyMax: 1 }),
    leadership: { holds: () => true },
    nodes: new MutationCache<NodeView>(() => newest),
    pods: noPodAnswers(),
    decisions: { note: () => undefined },
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });
  const add = [{ ...unreachable, timeAdded: '2026-01-02T03:00:01Z' }];
  const command = { kind: 'change-taints', node: evaluated, add, remove: [], lane: 'detection' } as const;
  assert.equal((await writer.carryOut(command, () => true)).result, 'written');
});

test('writes that wait for their turn occupy no slot: those of other objects of their lane are sent', async () => {
  const sent: string[] = [];
  const node = transformNode({ metadata: { name: 'free', uid: 'free', resourceVersion: '1' } });
  const writer = new ApiWriter({
    api: {
      get: () => assert.fail('nothing is read'),
      patch: (_resource, { name }) => {
        sent.push(`patch ${name}`);
        return Promise.resolve({ metadata: { name, uid: name, resourceVersion: '2' } });
      },
      delete: () => assert.fail('nothing is deleted'),
      evict: ({ name }) => {
        sent.push(`evict ${name}`);
        return new Promise(() => undefined);
      },
    },
    lanes: new PQueueLanes({ concurrencyMax: 2 }),
    leadership: { holds: () => true },
    nodes: new MutationCache<NodeView>(() => node),
    pods: noPodAnswers(),
    decisions: { note: () => undefined },
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });
  const pods = ['a', 'b'].map(aPod);
  for (const pod of pods) void writer.carryOut({ kind: 'evict-pod', pod, forHealth: true }, () => true);
  await settled();
  for (const pod of pods) void writer.carryOut({ kind: 'mark-pod-not-ready', pod, atMs: 0 }, () => true);
  void writer.carryOut({ kind: 'set-node-conditions', node, conditions: [] }, () => true);
  await settled();
  assert.deepEqual(sent, ['evict a', 'evict b', 'patch free']);
});
