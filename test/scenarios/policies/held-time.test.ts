// Maxima and cooldowns while something else holds the same act: time that is held is not counted, and time that was counted is not
// lost. That of `evictReachable` is in evict-reachable.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import type { ControllerOptions } from '../../../src/controller/model/options.ts';
import type { Toleration } from '../../../src/machinery/api/tolerations.ts';
import { Budget } from '../../support/budget.ts';
import { aPolicy } from '../../support/builders.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const tolerated: Toleration = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 };

type Switch = (world: ControllerWorld, on: boolean) => void;

/** Each holds the deletion of a pod for some seconds. */
const hiccups: readonly (readonly [string, Switch])[] = [
  ['pauses', (world, on) => world.changeOptions({ paused: on })],
  ['stale watches', (world, on) => (on ? world.loseContact() : world.restoreContact())],
];

/** For so many rounds of 100 s, 8 s of each. */
async function repeat(world: ControllerWorld, hold: Switch, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    hold(world, true);
    await world.advance(8);
    hold(world, false);
    await world.advance(92);
  }
}

/** A Ready node whose NoExecute taint stays, because it cannot be removed; its pod is due. */
async function aTaintThatStays(): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 4, b: 4 }, { nodeEvictionRate: 1 });
  world.addPod('p', 'a-0', [tolerated]);
  await world.start().silentFor(70, 'a-0');
  assert.deepEqual(world.tainted(['a-0']), ['a-0']);
  world.failNext('patch', 'nodes', 'forbidden', 1_000_000);
  world.recover('a-0');
  await world.advance(50);
  assert.deepEqual(world.evicted(), []);
  return world;
}

for (const [title, hold] of hiccups) {
  test(`a taint that stays on a Ready node counts after five minutes, whatever ${title} come between`, async () => {
    await using world = await aTaintThatStays();
    await repeat(world, hold, 2);
    assert.deepEqual(world.evicted(), []);
    await repeat(world, hold, 2);
    assert.deepEqual(world.evicted(), ['p']);
  });
}

test('a node that was not Ready during another hold has five minutes from when it is Ready again', async () => {
  await using world = await aTaintThatStays();
  await world.advance(200);
  world.changeOptions({ paused: true });
  await world.advance(10);
  world.post('a-0', 'False');
  await world.advance(10);
  world.post('a-0', 'True');
  await world.advance(10);
  world.changeOptions({ paused: false });
  await world.advance(280);
  assert.deepEqual(world.evicted(), [], 'its taint is about to be removed');
  await world.advance(40);
  assert.deepEqual(world.evicted(), ['p']);
});

const pool = names(8, 'a-');
const limits = { maxUnhealthy: { percent: undefined, count: 3 }, cooldownMs: 120_000, resetAtMs: undefined };

/** A breaker opens; then one of its nodes recovers, so that the cooldown begins. */
async function aCooldown(): Promise<ControllerWorld> {
  const world = aZonedWorld(
    { a: 8, b: 8 },
    {
      policies: [aPolicy({ name: 'pool-a', limits })],
      nodeEvictionRate: 1,
      unhealthyZoneThreshold: 1,
      controlPlanePathFailureHoldMs: 0,
    },
  );
  await world.start().silentFor(60, ...pool.slice(0, 4));
  world.recover('a-0');
  await world.advance(20);
  assert.deepEqual(world.tainted(pool), []);
  return world;
}

test('the cooldown of a breaker counts the time in which the number of unhealthy nodes is known', async () => {
  await using world = await aCooldown();
  world.loseContact();
  await world.advance(150);
  world.restoreContact();
  await world.advance(80);
  assert.deepEqual(world.tainted(pool), [], '20 s before the watches were stale, and less than 100 s since');
  await world.advance(45);
  assert.deepEqual(world.tainted(pool), ['a-1', 'a-2', 'a-3']);
});

test('the cooldown of a breaker ends, however often the watches are stale', async () => {
  await using world = await aCooldown();
  await repeat(world, (held, on) => (on ? held.loseContact() : held.restoreContact()), 2);
  assert.deepEqual(world.tainted(pool), ['a-1', 'a-2', 'a-3']);
});

test('the maximum of a signal of maintenance without a time ends, whatever policy its node has in between', async () => {
  const maintenance = { conditions: [], taints: ['example.com/m'], maxDurationMs: 600_000 };
  const selector = [{ key: 'frozen', operator: 'Exists' }] as const;
  await using world = aZonedWorld(
    { a: 6, b: 6 },
    {
      policies: [
        aPolicy({ name: 'pool', maintenance }),
        aPolicy({ name: 'frozen', mode: 'Paused', priority: 1, selector }),
      ],
    },
  );
  world.addPod('p', 'a-0');
  const { labels = {} } = world.node('a-0').metadata;
  await world.running(1);
  world.setTaints('a-0', [{ key: 'example.com/m', effect: 'NoSchedule' }]);
  world.goSilent('a-0');
  const freeze: Switch = (held, on) => held.setLabels('a-0', on ? { ...labels, frozen: '' } : labels);
  await repeat(world, freeze, 5);
  assert.deepEqual(world.evicted(), []);
  await repeat(world, freeze, 2);
  assert.deepEqual(world.evicted(), ['p']);
});

test('the maximum of a path-failure hold counts the time in which the watches are fresh', async () => {
  const sizes = { a: 4, b: 4, c: 1 };
  const silent = [...names(4, 'a-'), ...names(4, 'b-')];
  await using world = aZonedWorld(sizes, { controlPlanePathFailureHoldMs: 120_000, nodeEvictionRate: 1 });
  await world.start().silentFor(60, ...silent);
  assert.equal(world.decided('acts-held').length, 1);
  world.loseContact();
  await world.advance(150);
  world.restoreContact();
  await world.advance(90);
  assert.deepEqual(world.tainted(silent), []);
  await world.advance(60);
  assert.ok(world.tainted(silent).length > 0);
});

async function aTaintThatIsNotRemoved(
  over: Partial<ControllerOptions>,
  pods: readonly string[],
): Promise<ControllerWorld> {
  const world = aZonedWorld({ a: 4, b: 4 }, { nodeEvictionRate: 1, ...over });
  for (const pod of pods) world.addPod(pod, 'a-0', [tolerated]);
  await world.start().silentFor(70, 'a-0');
  world.failNext('patch', 'nodes', 'forbidden', 1_000_000);
  world.recover('a-0');
  await world.advance(50);
  assert.deepEqual(world.evicted(), []);
  return world;
}

test('a hold that a live read has ended does not begin again while a budget holds the pod', async () => {
  const policies = [aPolicy({ evictReachable: { timeoutMs: 120_000 } })];
  await using world = await aTaintThatIsNotRemoved({ policies }, ['web']);
  void new Budget(world);
  const from = world.seconds();
  await world.advance(600);
  const after = (world.evictedAtSeconds('web') ?? Infinity) - from;
  assert.ok(after > 400 && after < 440, `five minutes and the timeout: ${after} s`);
});

test('the same while pods wait for tokens', async () => {
  const policies = [aPolicy({ podDeletionsPerSecond: 0.1 })];
  await using world = await aTaintThatIsNotRemoved({ policies }, names(20, 'p'));
  await world.advance(530);
  assert.equal(world.evicted().length, 20);
});

test('the same while deletions fail', async () => {
  await using world = await aTaintThatIsNotRemoved({}, ['p']);
  let first: number | undefined;
  world.beforeWrite = ({ verb }) => {
    if (verb !== 'delete') return Promise.resolve();
    first ??= world.seconds();
    const fails = world.seconds() - first < 15;
    return fails
      ? Promise.reject(new ApiError({ reason: 'unavailable', code: 503, message: 'busy' }))
      : Promise.resolve();
  };
  await world.advance(400);
  assert.ok((world.evictedAtSeconds('p') ?? Infinity) - (first ?? 0) < 60);
});

test('the cache decides about a node that cannot be read for a minute after the maximum', async () => {
  await using world = await aTaintThatIsNotRemoved({}, ['p']);
  world.failNext('get', 'nodes', 'internal', 1_000_000);
  await world.advance(290);
  assert.deepEqual(world.evicted(), []);
  await world.advance(110);
  assert.deepEqual(world.evicted(), ['p']);
});

test('reads that fail before and after another hold are no minute in which the node cannot be read', async () => {
  await using world = await aTaintThatIsNotRemoved({}, ['p']);
  world.failNext('get', 'nodes', 'internal', 1_000_000);
  await world.advance(270);
  world.changeOptions({ paused: true });
  await world.advance(200);
  world.changeOptions({ paused: false });
  await world.advance(20);
  assert.deepEqual(world.evicted(), []);
  await world.advance(120);
  assert.deepEqual(world.evicted(), ['p']);
});

test('the cache decides about many nodes whose reads hang, of which only a few are read at once', async () => {
  const end = new AbortController();
  const silent = names(24, 'a-');
  const world = aZonedWorld({ a: 96, b: 4 }, { nodeEvictionRate: 1_000, secondaryNodeEvictionRate: 1_000 });
  for (const node of silent) world.addPod(`p-${node}`, node, [tolerated]);
  await using _ = world.start();
  await world.silentFor(70, ...silent);
  assert.equal(world.tainted(silent).length, 24);
  world.failNext('patch', 'nodes', 'forbidden', 1_000_000);
  for (const node of silent) world.recover(node);
  world.beforeRead = async (resource) => {
    if (resource !== 'nodes') return;
    await world.clock.sleep(10_000, end.signal);
    throw new ApiError({ reason: 'timeout', message: 'no response within 10000 ms' });
  };
  await world.advance(600);
  end.abort();
  assert.equal(world.evicted().length, 24);
});
