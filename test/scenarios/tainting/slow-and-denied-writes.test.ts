// NoExecute taints when the API server is slow or rejects: the other nodes of the zone and the other zones are served.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type ApiErrorInit } from '../../../src/machinery/api/api-error.ts';
import { type ControllerWorld, type Write } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const never = new Promise<void>(() => undefined);

function addsNoExecute({ resource, body }: Pick<Write, 'resource' | 'body'>): boolean {
  return resource === 'nodes' && JSON.stringify(body ?? {}).includes('"effect":"NoExecute"');
}

interface Attempt {
  readonly node: string;
  readonly atSeconds: number;
}

/** Every NoExecute taint that is sent, and what becomes of it: a promise to wait for, or an error. */
function onNoExecute(
  world: ControllerWorld,
  answer: (node: string) => Promise<void> | ApiErrorInit | undefined,
): Attempt[] {
  const attempts: Attempt[] = [];
  world.beforeWrite = async (write) => {
    if (!addsNoExecute(write)) return;
    attempts.push({ node: write.name, atSeconds: world.seconds() });
    const answered = answer(write.name);
    if (answered instanceof Promise) await answered;
    else if (answered !== undefined) throw new ApiError(answered);
  };
  return attempts;
}

function taintedAtSeconds(world: ControllerWorld, node: string): number | undefined {
  return world.writes.find((write) => write.name === node && addsNoExecute(write))?.atSeconds;
}

const nodesOf = (attempts: readonly Attempt[]): readonly string[] => attempts.map(({ node }) => node);

const denied: ApiErrorInit = { reason: 'forbidden', code: 403, message: 'denied by an admission webhook' };

test('a NoExecute patch that hangs in one zone delays neither another zone nor the marking of pods', async () => {
  const world = aZonedWorld({ a: 4, b: 4, c: 4 });
  world.addPod('p', 'b-0', [{ operator: 'Exists' }]);
  onNoExecute(world, (node) => (node === 'a-0' ? never : undefined));
  await world.start().silentFor(30, 'a-0');
  await world.silentFor(55, 'b-0');
  assert.equal(world.taints('a-0').includes('unreachable:NoExecute'), false);
  assert.deepEqual(world.taints('b-0'), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(world.podReady('p'), 'False');
});

test('a NoExecute patch that hangs does not delay another node of its zone that gets a token', async () => {
  const world = aZonedWorld({ a: 20 });
  const attempts = onNoExecute(world, (node) => (node === 'a-0' ? never : undefined));
  await world.start().silentFor(65, 'a-0', 'a-1');
  assert.equal(attempts[0]?.node, 'a-0');
  const waited = (taintedAtSeconds(world, 'a-1') ?? Infinity) - (attempts[0]?.atSeconds ?? 0);
  assert.ok(waited >= 9.9 && waited <= 10.2, `${waited} s at 0.1 nodes/s`);
});

test('at most four NoExecute patches of a zone are in flight at once', async () => {
  await using world = aZonedWorld({ a: 40 }, { nodeEvictionRate: 10 });
  const { promise: answered, resolve: release } = Promise.withResolvers<void>();
  const attempts = onNoExecute(world, () => answered);
  await world.start().silentFor(70, ...names(10, 'a-'));
  assert.deepEqual(nodesOf(attempts), names(4, 'a-'));
  release();
  await world.advance(2);
  assert.deepEqual(world.tainted(names(10, 'a-')), names(10, 'a-'));
});

test('a rejected NoExecute patch is retried with a back-off that doubles up to 30 s, and other nodes are served meanwhile', async () => {
  await using world = aZonedWorld({ a: 20 });
  let denies = true;
  const attempts = onNoExecute(world, (node) => (node === 'a-0' && denies ? denied : undefined));
  await world.start().silentFor(60, 'a-0', 'a-1', 'a-2');
  assert.ok((taintedAtSeconds(world, 'a-1') ?? Infinity) < 52, 'the token that a-0 did not spend is for a-1');
  await world.advance(600);
  const ofDenied = attempts.filter(({ node }) => node === 'a-0').map(({ atSeconds }) => atSeconds);
  const waits = ofDenied.slice(1).map((at, i) => at - (ofDenied[i] ?? 0));
  assert.ok(ofDenied.length > 10 && ofDenied.length < 40, `${ofDenied.length} attempts in 10 minutes`);
  assert.ok(Math.max(...waits.slice(-10)) <= 30.2 && Math.min(...waits.slice(-10)) >= 29.9, waits.join());
  assert.ok(world.taints('a-2').includes('unreachable:NoExecute'));
  denies = false;
  await world.advance(31);
  assert.ok(world.taints('a-0').includes('unreachable:NoExecute'));
});

test('a NoExecute patch is not retried before the Retry-After of the API server has passed', async () => {
  await using world = aZonedWorld({ a: 20 });
  const busy: ApiErrorInit = { reason: 'too-many-requests', message: 'busy', code: 429, retryAfterMs: 20_000 };
  const attempts = onNoExecute(world, () => (attempts.length === 1 ? busy : undefined));
  await world.start().silentFor(80, 'a-0');
  const [first, second] = attempts.map(({ atSeconds }) => atSeconds);
  const waited = (second ?? Infinity) - (first ?? 0);
  assert.ok(waited >= 20 && waited <= 20.2, `${waited} s`);
});

test('a node whose patch failed keeps its place: it is first when its back-off has ended', async () => {
  await using world = aZonedWorld({ a: 20 });
  const attempts = onNoExecute(world, () => (attempts.length === 1 ? denied : undefined));
  await world.start().silentFor(100, 'a-0', 'a-1', 'a-2', 'a-3');
  assert.deepEqual(nodesOf(attempts), ['a-0', 'a-1', 'a-0', 'a-2', 'a-3']);
});

test('a write that may have been applied keeps its token, a rejected one returns it', async () => {
  for (const [reason, waits] of [
    ['timeout', true],
    ['conflict', false],
  ] as const) {
    await using world = aZonedWorld({ a: 20 });
    const attempts = onNoExecute(world, () => (attempts.length === 1 ? { reason, message: reason } : undefined));
    await world.start().silentFor(80, 'a-0', 'a-1');
    const [first, second] = attempts.map(({ atSeconds }) => atSeconds);
    assert.equal((second ?? Infinity) - (first ?? 0) > 9.5, waits, reason);
  }
});
