// Requests that hang, fail or are refused do not delay other pods.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { defaultPodGcOptions } from '../../../src/controller/model/options.ts';
import { Budget } from '../../support/budget.ts';
import { aPolicy } from '../../support/builders.ts';
import { ControllerWorld } from '../../support/controller-world.ts';
import { NarrowLanes } from '../../support/narrow-lanes.ts';
import { OpenLanes } from '../../support/open-lanes.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

/** Pods of a-0 whose eviction hangs for 30 s each, and one of b-0 that is deleted. */
async function hangingEvictions(
  lanes: OpenLanes,
): Promise<{ world: ControllerWorld; end: () => void; asked: () => number }> {
  const policies = [aPolicy({ evictReachable: { timeoutMs: 3_600_000 } })];
  const world = new ControllerWorld({ policies, nodeEvictionRate: 1 }, {}, defaultPodGcOptions, () => lanes);
  for (const zone of ['a', 'b']) world.addNodes(names(4, `${zone}-`), { zone });
  for (const pod of names(100, 'web-')) world.addPod(pod, 'a-0');
  world.addPod('other', 'b-0');
  world.start();
  const end = new AbortController();
  let asked = 0;
  world.beforeWrite = async ({ verb }) => {
    if (verb !== 'evict') return;
    asked += 1;
    await world.clock.sleep(30_000, end.signal);
    throw new ApiError({ reason: 'timeout', message: 'no answer' });
  };
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(10);
  world.post('b-0', 'False');
  return { world, end: () => end.abort(), asked: () => asked };
}

for (const [slots, deletedInSeconds] of [
  [Infinity, 10],
  [4, 10],
  [3, 10],
  [2, 10],
  // A single slot serves both in turn: the mark of the pod and its deletion wait for a request each.
  [1, 70],
] as const)
  test(`evictions that hang do not delay deletions for more than ${deletedInSeconds} s with ${slots} write slots`, async () => {
    const lanes = slots === Infinity ? new OpenLanes() : new NarrowLanes(slots);
    const { world, end, asked } = await hangingEvictions(lanes);
    await world.advance(deletedInSeconds);
    const evicted = world.evicted();
    const before = asked();
    await world.advance(120);
    const after = asked();
    end();
    await world.stop();
    assert.deepEqual(evicted, ['other']);
    assert.ok(after > before, 'others are asked for');
  });

for (const { title, end, expected } of [
  { title: 'is deleted soon after its node becomes unreachable', end: 'silent', expected: ['delete web'] },
  { title: 'is not evicted when its node recovers', end: 'ready', expected: [] },
] as const)
  test(`a pod whose request to the Eviction API hangs ${title}`, async () => {
    const policies = [aPolicy({ podDeletionsPerSecond: 1, evictReachable: { timeoutMs: 3_600_000 } })];
    await using world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 });
    world.addPod('web', 'a-0');
    world.start();
    const stop = new AbortController();
    const asked: number[] = [];
    world.beforeWrite = async ({ verb }) => {
      if (verb !== 'evict') return;
      asked.push(world.seconds());
      await world.clock.sleep(3_600_000, stop.signal);
      throw new ApiError({ reason: 'timeout', message: 'no answer' });
    };
    await world.advance(1);
    world.post('a-0', 'False');
    await world.advance(5);
    assert.equal(asked.length, 1);
    if (end === 'silent') world.goSilent('a-0');
    else world.recover('a-0');
    await world.advance(54);
    const left = world.writes.flatMap(({ verb, name }) => (verb === 'patch' ? [] : [`${verb} ${name}`]));
    stop.abort();
    assert.deepEqual([left, asked.length], [expected, 1]);
    if (end === 'ready') assert.deepEqual(world.taints('a-0'), []);
  });

test('pods whose eviction fails and may have been done do not take every token', async () => {
  const policies = [aPolicy({ podDeletionsPerSecond: 0.5, evictReachable: { timeoutMs: 3_600_000 } })];
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 });
  for (const pod of names(30, 'web-')) world.addPod(pod, 'a-0');
  world.addPod('free', 'a-1');
  world.start();
  const budget = new Budget(world);
  budget.error = new ApiError({ reason: 'internal', message: 'more than one budget', code: 500 });
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(120);
  world.goSilent('a-1');
  await world.advance(52 + 2 * 31 + 5);
  assert.deepEqual(world.evicted(), ['free']);
});

test('many pods that a budget holds do not keep the token from pods of a silent node', async () => {
  const policies = [aPolicy({ podDeletionsPerSecond: 0.5, evictReachable: { timeoutMs: 3_600_000 } })];
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 });
  const end = new AbortController();
  for (const pod of names(400, 'web-')) world.addPod(pod, 'a-0');
  for (const pod of names(3, 'free-')) world.addPod(pod, 'a-1');
  world.start();
  void new Budget(world);
  const refuse = world.beforeWrite;
  world.beforeWrite = async (write) => {
    if (write.verb === 'evict') await world.clock.sleep(200, end.signal);
    await refuse(write);
  };
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(60);
  world.goSilent('a-1');
  await world.advance(55 + 400);
  const evicted = world.evicted();
  end.abort();
  assert.deepEqual([...evicted].sort(), names(3, 'free-'));
});

test('a pod that leaves for a taint of another client, and whose deletion hangs, does not stop its queue', async () => {
  const policies = [aPolicy({ podDeletionsPerSecond: 0.05 })];
  await using world = aZonedWorld({ a: 4, b: 4 }, { policies, nodeEvictionRate: 1 });
  const end = new AbortController();
  const drain = 'example.com/drain';
  world.addPod('first', 'a-0');
  world.start();
  world.addPod('hangs', 'a-1', [{ key: drain, operator: 'Exists', tolerationSeconds: 16 }]);
  await world.advance(1);
  world.post('a-0', 'False');
  await world.advance(6);
  assert.deepEqual(world.evicted(), ['first']);
  world.beforeWrite = async ({ verb, name }) => {
    if (verb === 'delete' && name === 'hangs') await world.clock.sleep(300_000, end.signal);
  };
  world.setTaints('a-1', [{ key: drain, effect: 'NoExecute', timeAdded: formatTime(world.clock.nowMs() - 11_000) }]);
  world.post('a-1', 'False');
  await world.advance(3);
  world.addPod('third', 'a-0');
  await world.advance(25);
  const evicted = world.evicted();
  end.abort();
  assert.deepEqual(evicted, ['first', 'third']);
});
